-- Where things are, by name, and more of what was believed of them. All of it follows from the log.

-- Each line about a region; the last one of a name in a map counts.
CREATE TABLE region (
    seq INTEGER PRIMARY KEY REFERENCES log(seq),
    key TEXT NOT NULL,                         -- the name with its case folded
    name TEXT NOT NULL,
    kind TEXT NOT NULL,                        -- room, place, floor, or any word
    polygon TEXT,                              -- JSON: corners (x, y) in m; NULL: it is no more
    low_z REAL, high_z REAL,                   -- m
    parent TEXT NOT NULL,                      -- name of the region it is part of; empty: none
    map_id TEXT NOT NULL,
    stamp_ns INTEGER NOT NULL
);

-- What a version does not say is as it is now, or unknown: files are rebuilt once, but what was
-- sealed before keeps NULL.
ALTER TABLE object_version ADD COLUMN labels TEXT;             -- JSON as of object; NULL: only label
ALTER TABLE object_version ADD COLUMN map_id TEXT;
ALTER TABLE object_version ADD COLUMN confidence REAL;
ALTER TABLE object_version ADD COLUMN observations INTEGER;
ALTER TABLE object_version ADD COLUMN first_seen_ns INTEGER;
ALTER TABLE object_version ADD COLUMN last_seen_ns INTEGER;
ALTER TABLE object_version ADD COLUMN odds REAL;               -- of its presence, as of odds_ns
ALTER TABLE object_version ADD COLUMN odds_ns INTEGER;
INSERT OR IGNORE INTO meta SELECT 'rebuild', 'versions' WHERE EXISTS (SELECT 1 FROM object);
