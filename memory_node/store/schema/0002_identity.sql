-- Which objects turned out to be one, and which one to be two. All of it follows from the log.

-- An id that was merged into another; chains lead on to the object that it is now.
CREATE TABLE redirect (
    object_id INTEGER PRIMARY KEY REFERENCES object(id),
    into_id INTEGER NOT NULL REFERENCES object(id),
    seq INTEGER NOT NULL REFERENCES log(seq)
);
CREATE INDEX redirect_into ON redirect(into_id);

-- Sightings that a split gave to another object than the one in their row, which is never changed.
-- The last one counts; undoing a split removes its rows.
CREATE TABLE attribution (
    observation_id INTEGER NOT NULL REFERENCES observation(id),
    seq INTEGER NOT NULL REFERENCES log(seq),
    object_id INTEGER NOT NULL REFERENCES object(id),
    PRIMARY KEY (observation_id, seq)
) WITHOUT ROWID;
CREATE INDEX attribution_object ON attribution(object_id);

-- Every merge and split with the object as it was before, so that it can be undone.
CREATE TABLE identity_change (
    seq INTEGER PRIMARY KEY REFERENCES log(seq),
    kind TEXT NOT NULL,                        -- MERGED or SPLIT
    object_id INTEGER NOT NULL REFERENCES object(id),  -- went on under its id
    other_id INTEGER NOT NULL REFERENCES object(id),   -- ended (MERGED), or made (SPLIT)
    record BLOB NOT NULL,                      -- object_id before: see object.record
    space INTEGER NOT NULL,                    -- in use then; 0: none
    feature BLOB,                              -- of it before; float32
    undone_seq INTEGER REFERENCES log(seq)     -- NULL: it holds
);

-- Views that were taken over from other stores are few among many.
CREATE INDEX view_merged ON view(sensor) WHERE sensor >= 'merged:' AND sensor < 'merged;';
