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
    before TEXT NOT NULL,             -- JSON: what the line replaced
    after TEXT NOT NULL               -- JSON: what the line says, where no row of a view does
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
    config TEXT NOT NULL REFERENCES config(hash),
    looks BLOB,                       -- what it says of stored objects, 13 bytes each: int64 id,
                                      -- uint8 kind (0 hit), float32 likelihood
    shift BLOB,                       -- 3 float64 (m), taken away from all positions as an error
                                      -- of the localisation; NULL: nothing was
    noise_m REAL                      -- position noise of the sensor, as learned up to here
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
    hull_x REAL, hull_y REAL, hull_z REAL,  -- centre of the hull; NULL: that of the object
    confidence REAL NOT NULL,
    observations INTEGER NOT NULL,
    looks INTEGER NOT NULL,           -- independent ones
    look_seq INTEGER NOT NULL REFERENCES view(seq),
    first_seen_ns INTEGER NOT NULL,
    last_seen_ns INTEGER NOT NULL,
    map_id TEXT NOT NULL,
    version_seq INTEGER NOT NULL REFERENCES log(seq),
    record BLOB NOT NULL              -- the same as the working set has it, for opening at once
);

-- Embedding models whose features are here.
CREATE TABLE feature_space (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
);

CREATE TABLE object_feature (
    object_id INTEGER NOT NULL REFERENCES object(id),
    space INTEGER NOT NULL REFERENCES feature_space(id),
    feature BLOB NOT NULL,            -- float32, unit norm
    observation_id INTEGER NOT NULL,  -- the last one that is in it: features are written behind,
                                      -- meta features_to says how far all rows have come
    PRIMARY KEY (object_id, space)
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

-- What was rejected, by label and cell, so that the same rejection is recognised (CH-W1).
CREATE TABLE rejection (
    id INTEGER PRIMARY KEY,
    label TEXT NOT NULL,
    cell_x INTEGER NOT NULL, cell_y INTEGER NOT NULL, cell_z INTEGER NOT NULL,
    map_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_seq INTEGER NOT NULL REFERENCES view(seq),
    last_seq INTEGER NOT NULL REFERENCES view(seq),
    UNIQUE (label, cell_x, cell_y, cell_z, map_id, reason)
);

-- Each detection after judgement. A refused (malformed) detection leaves no row.
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    view_seq INTEGER NOT NULL REFERENCES view(seq),
    object_id INTEGER REFERENCES object(id),   -- NULL: rejected
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    candidate_id INTEGER,                      -- object that the terms are about
    rejection_id INTEGER REFERENCES rejection(id),
    barred_by INTEGER REFERENCES tombstone(object_id),
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
    space INTEGER REFERENCES feature_space(id),
    feature BLOB                               -- where it was kept; float16 (chronotope: float32)
);
CREATE INDEX observation_object ON observation(object_id) WHERE object_id IS NOT NULL;

-- What was forgotten, so that its next sighting does not bring it back, and what has been seen
-- there since: enough of that clears it (RESTORED).
CREATE TABLE tombstone (
    object_id INTEGER PRIMARY KEY REFERENCES object(id),
    seq INTEGER NOT NULL REFERENCES log(seq),
    label TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    map_id TEXT NOT NULL,
    detections INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,          -- independent ones
    look_seq INTEGER REFERENCES view(seq),     -- the last of these
    score_sum REAL NOT NULL DEFAULT 0,
    sum_x REAL NOT NULL DEFAULT 0, sum_y REAL NOT NULL DEFAULT 0, sum_z REAL NOT NULL DEFAULT 0,
    cleared_seq INTEGER REFERENCES log(seq)    -- NULL: it still bars
);

-- Facts about an object that somebody stated; the latest value of a key counts (CH-12).
CREATE TABLE property (
    object_id INTEGER NOT NULL REFERENCES object(id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,                       -- JSON
    stamp_ns INTEGER NOT NULL,
    actor TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES log(seq),
    PRIMARY KEY (object_id, key)
) WITHOUT ROWID;

-- Relations that somebody stated (CH-11).
CREATE TABLE stated_relation (
    subject_id INTEGER NOT NULL REFERENCES object(id),
    relation TEXT NOT NULL,
    object_id INTEGER NOT NULL REFERENCES object(id),
    stamp_ns INTEGER NOT NULL,
    actor TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES log(seq),
    PRIMARY KEY (subject_id, relation, object_id)
) WITHOUT ROWID;
CREATE INDEX stated_relation_object ON stated_relation(object_id);

-- What happened, as told by somebody; never changed (CH-13).
CREATE TABLE event (
    seq INTEGER PRIMARY KEY REFERENCES log(seq),
    type TEXT NOT NULL,
    object_id INTEGER REFERENCES object(id),   -- where it happened; NULL: not said
    stamp_ns INTEGER NOT NULL,
    payload TEXT NOT NULL                      -- JSON
);
CREATE INDEX event_type ON event(type, stamp_ns);
