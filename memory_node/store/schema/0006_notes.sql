-- Notes: an index of the journal, the Markdown files beside this file. All of it can be made anew.

CREATE TABLE journal_file (
    name TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    section TEXT NOT NULL,          -- of its last heading
    lines INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE journal_problem (
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    problem TEXT NOT NULL
);
CREATE INDEX journal_problem_file ON journal_problem (file);

CREATE TABLE note (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    day TEXT NOT NULL,              -- of the file, empty: another page
    kind TEXT NOT NULL,
    network TEXT NOT NULL,
    key TEXT NOT NULL,
    user TEXT NOT NULL,             -- slug; empty: everybody's
    robot TEXT NOT NULL,
    clock TEXT NOT NULL,
    said TEXT NOT NULL,             -- JSON of the line
    now TEXT NOT NULL,              -- JSON with what later lines add to it
    digest TEXT NOT NULL,
    start_ns INTEGER,
    end_ns INTEGER,
    from_ns INTEGER NOT NULL,
    to_ns INTEGER,                  -- NULL: still true
    forgotten_ns INTEGER,
    verdicts TEXT NOT NULL DEFAULT '{}',
    frame TEXT, x REAL, y REAL, z REAL
);
CREATE INDEX note_id ON note (id);
CREATE INDEX note_file ON note (file);
CREATE INDEX note_key ON note (key, kind) WHERE key <> '';
CREATE INDEX note_digest ON note (digest);
CREATE INDEX note_start ON note (start_ns);
CREATE INDEX note_long ON note (start_ns) WHERE end_ns - start_ns > 2678400000000000;
CREATE INDEX note_since ON note (from_ns) WHERE key <> '';
CREATE INDEX note_place ON note (frame, x) WHERE frame IS NOT NULL;

CREATE TABLE note_op (
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    day TEXT NOT NULL,
    op TEXT NOT NULL,
    note_id TEXT NOT NULL,
    at_ns INTEGER NOT NULL,
    said TEXT NOT NULL
);
CREATE INDEX note_op_id ON note_op (note_id);
CREATE INDEX note_op_file ON note_op (file);

CREATE TABLE note_entity (
    slug TEXT NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (slug, row)
) WITHOUT ROWID;
CREATE INDEX note_entity_row ON note_entity (row);

CREATE VIRTUAL TABLE note_text USING fts5(text, content='', contentless_delete=1);
