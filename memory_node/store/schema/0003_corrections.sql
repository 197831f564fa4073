-- What a person says of an object, beside the evidence. All of it follows from the log.

-- What of an object is somebody's word: seeing it otherwise never changes it. Of an object that
-- was merged into another the rows hold of that one, where that has none of its own.
CREATE TABLE pin (
    object_id INTEGER NOT NULL REFERENCES object(id),
    aspect TEXT NOT NULL,                      -- label, pose, size or presence
    value TEXT NOT NULL,                       -- JSON: a label, numbers (m, quaternion), true
    seq INTEGER NOT NULL REFERENCES log(seq),  -- says who, and why
    sightings INTEGER NOT NULL,                -- since then, those that could have changed it
    evidence TEXT,                             -- JSON: what these say; NULL: nothing
    conflict INTEGER NOT NULL,                 -- 1: the evidence says something else
    PRIMARY KEY (object_id, aspect)
) WITHOUT ROWID;

-- What was forgotten for a time bars no view stamped at or after this; NULL: for ever.
ALTER TABLE tombstone ADD COLUMN until_ns INTEGER;

-- Log line up to which all that follows from the log was sealed, as a purge removed content from
-- before it: a replay begins with the tables sealed_*, which are copies. space: in use then.
CREATE TABLE seal (
    seq INTEGER PRIMARY KEY REFERENCES log(seq),
    space INTEGER NOT NULL                     -- 0: none
);

-- What somebody stated has no look yet. SQLite has no statement that takes a NOT NULL away; this
-- is the way its documentation of ALTER TABLE describes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(
    sql, 'look_seq INTEGER NOT NULL REFERENCES view(seq)', 'look_seq INTEGER REFERENCES view(seq)'
) WHERE type = 'table' AND name = 'object';
PRAGMA writable_schema = RESET;
