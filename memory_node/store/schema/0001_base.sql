-- The log and what it numbers. Rows of log, view and observation are never changed or removed;
-- everything else can be rebuilt from them.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Settings under which views were judged, by hash, as JSON.
CREATE TABLE config (
    hash TEXT PRIMARY KEY,
    settings TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE log (
    seq INTEGER PRIMARY KEY,          -- 1, 2, 3, … without gaps
    kind TEXT NOT NULL,               -- VIEW, or a kind of change
    object_id INTEGER,
    stamp_ns INTEGER NOT NULL,        -- when the world showed it
    recorded_ns INTEGER NOT NULL,     -- when the memory learned it
    actor TEXT NOT NULL,              -- perception, or whoever asked
    reason TEXT NOT NULL,
    before TEXT NOT NULL              -- JSON: what the line replaced
);
CREATE INDEX log_object ON log(object_id, seq) WHERE object_id IS NOT NULL;

-- One row for each observe(), also for a view without detections.
CREATE TABLE view (
    seq INTEGER PRIMARY KEY REFERENCES log(seq),
    sensor TEXT NOT NULL,
    stamp_ns INTEGER NOT NULL,
    recorded_ns INTEGER NOT NULL,
    clock TEXT NOT NULL,              -- wall or sim
    map_id TEXT NOT NULL,
    sensor_pose BLOB,                 -- 7 float64: position (m, map), quaternion x y z w
    field_of_view BLOB,               -- 4 float64: horizontal, vertical (rad), min, max range (m)
    localization_cov BLOB,            -- 36 float64, row major
    scope TEXT NOT NULL,              -- JSON
    config TEXT NOT NULL REFERENCES config(hash)
);

CREATE INDEX view_stamp ON view(stamp_ns);

-- Every label that was ever judged, as it was first spelt.
CREATE TABLE label (
    number INTEGER PRIMARY KEY,       -- 0, 1, 2, … in the order of their appearance
    name TEXT NOT NULL
);

CREATE TABLE object (
    id INTEGER PRIMARY KEY,           -- never used again
    label TEXT NOT NULL,
    labels TEXT NOT NULL,             -- JSON: label → evidence mass
    state TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    size_x REAL NOT NULL, size_y REAL NOT NULL, size_z REAL NOT NULL,
    qx REAL NOT NULL, qy REAL NOT NULL, qz REAL NOT NULL, qw REAL NOT NULL,
    oriented INTEGER NOT NULL,        -- 0: orientation unknown
    confidence REAL NOT NULL,
    observations INTEGER NOT NULL,
    looks INTEGER NOT NULL,           -- independent ones
    look_seq INTEGER NOT NULL REFERENCES view(seq),
    first_seen_ns INTEGER NOT NULL,
    last_seen_ns INTEGER NOT NULL,
    map_id TEXT NOT NULL,
    version_seq INTEGER NOT NULL REFERENCES log(seq)
);

CREATE TABLE object_feature (
    object_id INTEGER PRIMARY KEY REFERENCES object(id),
    feature BLOB NOT NULL             -- float32, unit norm
);

-- The object after each change in kind (not after each sighting).
CREATE TABLE object_version (
    object_id INTEGER NOT NULL REFERENCES object(id),
    seq INTEGER NOT NULL REFERENCES log(seq),
    stamp_ns INTEGER NOT NULL,
    recorded_ns INTEGER NOT NULL,
    label TEXT NOT NULL,
    state TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    size_x REAL NOT NULL, size_y REAL NOT NULL, size_z REAL NOT NULL,
    qx REAL NOT NULL, qy REAL NOT NULL, qz REAL NOT NULL, qw REAL NOT NULL,
    PRIMARY KEY (object_id, seq)
) WITHOUT ROWID;

-- Each detection after judgement. A refused (malformed) detection leaves no row.
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    view_seq INTEGER NOT NULL REFERENCES view(seq),
    object_id INTEGER REFERENCES object(id),   -- NULL: rejected
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    label TEXT NOT NULL,
    score REAL NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    size_x REAL NOT NULL, size_y REAL NOT NULL, size_z REAL NOT NULL,
    qx REAL, qy REAL, qz REAL, qw REAL,        -- NULL: orientation unknown
    position_cov BLOB,                         -- 9 float64 (m²), NULL: unknown
    alternatives TEXT,                         -- JSON: label → score
    track_id TEXT,
    geometry_term REAL, iou_term REAL, feature_term REAL, label_term REAL,
    total REAL,
    feature BLOB                               -- float16, where it was kept
);
CREATE INDEX observation_object ON observation(object_id) WHERE object_id IS NOT NULL;

-- What was forgotten, so that its next sighting does not bring it back.
CREATE TABLE tombstone (
    object_id INTEGER PRIMARY KEY REFERENCES object(id),
    seq INTEGER NOT NULL REFERENCES log(seq),
    label TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    map_id TEXT NOT NULL
);
