# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What lifting is set by: the rows of `lifting_node`'s table of parameters."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.config import check, tunable

BOXES, MASKS, LABELLED_MASKS = 'boxes', 'masks', 'labelled_masks'
IMAGE, COMPRESSED, CLOUD = 'image', 'compressed', 'cloud'


@dataclass(frozen=True)
class LiftingConfig:
    """How regions of an image become boxes. Raises InvalidValueError for what is out of range."""

    min_range_m: float = tunable(
        0.15,
        'What is nearer is not measured: some cameras report a place without depth as their own '
        'place.',
        unit='m', low=0.0, high=10.0,
    )  # fmt: skip
    max_range_m: float = tunable(
        6.0, 'What is farther is not measured well enough.', unit='m', low=0.1, high=1000.0
    )
    erosion_px: int = tunable(
        2, 'Pixels taken off the rim of every mask, where that leaves enough.', low=0, high=50
    )
    edge_m: float = tunable(
        0.02, 'A jump in depth between neighbours beyond this is an edge; no point at it counts.',
        unit='m', low=0.001, high=10.0,
    )  # fmt: skip
    edge_share: float = tunable(
        0.01, 'That grows by this share of the depth.', low=0.0, high=1.0
    )  # fmt: skip
    min_pixels: int = tunable(
        60, 'Fewer pixels with depth make no thing (too_few_points).', low=8, high=100000
    )
    min_depth_share: float = tunable(
        0.1, 'Share of the pixels of a mask that must have depth (too_few_points).',
        low=0.0, high=1.0,
    )  # fmt: skip
    max_points: int = tunable(
        400, 'Points of one thing to work with; more are thinned out evenly in space.',
        low=100, high=100000,
    )  # fmt: skip
    outlier_neighbors: int = tunable(
        12, 'Neighbours of a point whose mean distance says whether it is an outlier.',
        low=3, high=100,
    )  # fmt: skip
    outlier_deviations: float = tunable(
        2.0, 'A point is an outlier where that is so many standard deviations above the mean.',
        low=0.1, high=100.0,
    )  # fmt: skip
    cluster_gap_m: float = tunable(
        0.01, 'Points farther apart than this, and than what thinning left, are of two things.',
        unit='m', low=0.001, high=10.0,
    )  # fmt: skip
    min_share: float = tunable(
        0.4, 'A mask of which the largest thing has a smaller share shows no thing (scattered).',
        low=0.0, high=1.0,
    )  # fmt: skip
    size_margin: float = tunable(
        1.25, 'How much longer than labels.yaml says of its class a thing may be (too_large), and '
        'how much shorter when all of it is in view (too_small).',
        low=1.0, high=100.0,
    )  # fmt: skip
    partial_share: float = tunable(
        0.1, 'Only a part is seen of what has this share of its rim at the border of the image or '
        'behind something nearer.',
        low=0.0, high=1.0,
    )  # fmt: skip
    noise_m: float = tunable(
        0.0012, 'Standard deviation of depth at 0.4 m: of one measurement.',
        unit='m', low=0.0, high=1.0,
    )  # fmt: skip
    noise_per_m: float = tunable(
        0.0019, 'What is added to that for each squared metre beyond 0.4 m.',
        unit='1/m', low=0.0, high=1.0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class EncoderConfig:
    """Which model knows looks, in either node. Raises InvalidValueError for a bad value."""

    encoder_model: str = tunable(
        '',
        'Folder of a model of OpenCLIP (open_clip_config.json and its weights), or a name as in '
        'open_clip.list_models(), for example ViT-B-32. Empty: none, and things are not known by '
        'their looks.',
        read_only=True,
    )
    encoder_weights: str = tunable(
        '', 'With a name: a file of weights, or what they are called, for example '
        'laion2b_s34b_b79k.',
        read_only=True,
    )  # fmt: skip
    encoder_device: str = tunable('cpu', 'Where it runs: cpu, cuda, cuda:1, …', read_only=True)
    encoder_network: bool = tunable(
        False, 'Whether weights that are not there may be fetched.', read_only=True
    )
    encoder_batch: int = tunable(
        16, 'Images, or texts, at once.', low=1, high=4096, read_only=True
    )  # fmt: skip

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class LiftingNodeConfig:
    """What only the node needs. Raises InvalidValueError for a value out of its range."""

    regions: str = tunable(
        BOXES,
        'What says where things are: detections_2d (boxes), masks whose pixels are ids '
        '(masks), or both, where the id of a detection is the id of its pixels (labelled_masks).',
        choices=(BOXES, MASKS, LABELLED_MASKS), read_only=True,
    )  # fmt: skip
    depth_source: str = tunable(
        IMAGE,
        'Where depth comes from: depth (image), depth/compressedDepth (compressed), or the '
        'organised cloud points, which needs no camera_info (cloud).',
        choices=(IMAGE, COMPRESSED, CLOUD), read_only=True,
    )  # fmt: skip
    aligned: bool = tunable(
        False,
        'Whether depth, masks and the image of camera_info show the same where their sizes or '
        'frames differ. false: they must be of one size and frame.',
        read_only=True,
    )
    sensor: str = tunable(
        '', 'Name of the sensor in the detections. Empty: the frame of the depth.', read_only=True
    )
    class_names_file: str = tunable(
        '',
        'YAML file with the names of class ids, and of the ids in masks, for example 56: chair; ~ '
        'is expanded. Empty: what semantic_labels says, else class ids are names.',
        read_only=True,
    )
    labels_file: str = tunable(
        '', 'File with plausible sizes of classes. Empty: labels.yaml of the package.',
        read_only=True,
    )  # fmt: skip
    level_frame: str = tunable(
        '',
        'A frame whose z points up, for example odom: boxes then stand upright. Empty, or unknown '
        'to TF: they lie as they fit best.',
        read_only=True,
    )
    mask_score: float = tunable(
        0.9, 'Score of what a mask shows, where no detection gives one.',
        low=0.0, high=1.0, read_only=True,
    )  # fmt: skip
    sync_tolerance_s: float = tunable(
        0.02, 'What belongs together differs in its stamp by no more.',
        unit='s', low=0.0, high=1.0, read_only=True,
    )  # fmt: skip
    kept_images: int = tunable(
        20, 'Messages of each topic that wait for the others; beyond, the oldest goes.',
        low=2, high=1000, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check(self)
