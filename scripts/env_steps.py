# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The steps of scripts/env that are easier in Python. Each is safe to repeat.

fix-exports VENV           mends the include folders in the CMake files of the ROS 2 wheels
tf2-msgs FOLDER            writes the interface package tf2_msgs, which the wheels lack
live-import NAME FOLDER PREFIX
                           makes this Python import NAME from FOLDER before any installed copy, but
                           for compiled modules: these come from what is installed in PREFIX
missing OUT FILE...        sorts pins into OUT/missing.txt and OUT/present.txt (installed already)
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import sysconfig
from pathlib import Path

TF2_PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>tf2_msgs</name>
  <version>0.36.0</version>
  <description>The messages of /tf, for machines that have no tf2_msgs.</description>
  <maintainer email="maintainers@spatial-memory.dev">The spatial_memory maintainers</maintainer>
  <license>BSD-3-Clause</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <build_depend>rosidl_default_generators</build_depend>
  <depend>geometry_msgs</depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""

TF2_CMAKE = """cmake_minimum_required(VERSION 3.16)
project(tf2_msgs)
find_package(ament_cmake REQUIRED)
find_package(geometry_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(${PROJECT_NAME}
  msg/TFMessage.msg msg/TF2Error.msg
  DEPENDENCIES geometry_msgs)
ament_package()
"""

LIVE_FINDER = '''"""Imports {name} from the source tree (written by scripts/env)."""

import importlib.machinery
import importlib.util
import os
import sys


class _LiveFinder:
    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname == {name!r}:
            return importlib.util.spec_from_file_location(
                fullname, {init!r}, submodule_search_locations=[{folder!r}]
            )
        if fullname.startswith({name!r} + '.'):  # what was compiled lies where it was installed
            for suffix in importlib.machinery.EXTENSION_SUFFIXES:
                file = os.path.join({installed!r}, *fullname.split('.')) + suffix
                if os.path.isfile(file):
                    return importlib.util.spec_from_file_location(fullname, file)
        return None


sys.meta_path.insert(0, _LiveFinder)
'''


def fix_exports(venv: str) -> None:
    """Names this machine's include folders where the wheels name those of their build machine."""
    import numpy

    replacements = [
        (
            re.compile(r'/opt/python/cp\d+-cp\d+/include/python3\.\d+'),
            sysconfig.get_paths()['include'],
        ),
        (
            re.compile(
                r'/opt/python/cp\d+-cp\d+/lib/python3\.\d+/site-packages/numpy/_?core/include'
            ),
            numpy.get_include(),
        ),
    ]
    for path in Path(venv, 'share').rglob('*.cmake'):
        old = new = path.read_text(encoding='utf-8')
        for pattern, folder in replacements:
            new = pattern.sub(lambda _, folder=folder: folder, new)
        if new != old:
            path.write_text(new, encoding='utf-8')
            print('mended', path)


def tf2_msgs(folder: str) -> None:
    """Writes tf2_msgs from the fields that rosbags knows (same fields, so same type hash)."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    root = Path(folder)
    (root / 'msg').mkdir(parents=True, exist_ok=True)
    for name in ('TFMessage', 'TF2Error'):
        definition, _ = store.generate_msgdef(f'tf2_msgs/msg/{name}', ros_version=2)
        own_part = definition.split('=' * 80)[0]
        (root / 'msg' / f'{name}.msg').write_text(own_part, encoding='utf-8')
    (root / 'package.xml').write_text(TF2_PACKAGE, encoding='utf-8')
    (root / 'CMakeLists.txt').write_text(TF2_CMAKE, encoding='utf-8')


def live_import(name: str, folder: str, prefix: str) -> None:
    """Makes source edits live, without putting launch/ and test/ of the project on the path."""
    packages = Path(sysconfig.get_paths()['purelib'])
    module = f'_live_{name}'
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    text = LIVE_FINDER.format(
        name=name, init=str(Path(folder, '__init__.py')), folder=folder,
        installed=str(Path(prefix, 'lib', version, 'site-packages')),
    )  # fmt: skip
    (packages / f'{module}.py').write_text(text, encoding='utf-8')
    (packages / f'{module}.pth').write_text(f'import {module}\n', encoding='utf-8')


def missing(out: str, *files: str) -> None:
    """Splits the pins of the requirement files into those to install and those to leave alone."""
    absent, present = [], []
    for file in files:
        for line in Path(file).read_text(encoding='utf-8').splitlines():
            requirement = line.split('#')[0].strip()
            if not requirement:
                continue
            name = re.match(r'[\w.-]+', requirement).group()
            try:
                present.append(f'{name}=={importlib.metadata.version(name)}')
            except importlib.metadata.PackageNotFoundError:
                absent.append(requirement)
    Path(out, 'missing.txt').write_text(''.join(f'{x}\n' for x in absent), encoding='utf-8')
    Path(out, 'present.txt').write_text(
        ''.join(f'{x}\n' for x in dict.fromkeys(present)), encoding='utf-8'
    )


STEPS = {
    'fix-exports': fix_exports,
    'tf2-msgs': tf2_msgs,
    'live-import': live_import,
    'missing': missing,
}

if __name__ == '__main__':
    STEPS[sys.argv[1]](*sys.argv[2:])
