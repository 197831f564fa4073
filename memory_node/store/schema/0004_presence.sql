-- Is it still there? Derived, as the rest of these rows: an older file is rebuilt once (rebuild.upgrade).
ALTER TABLE object ADD COLUMN last_checked_ns INTEGER;  -- when a view last said something of it
ALTER TABLE object ADD COLUMN last_check TEXT;          -- what: seen, seen_through, missed, …
ALTER TABLE object ADD COLUMN odds REAL;                -- of its presence, as of odds_ns
ALTER TABLE object ADD COLUMN odds_ns INTEGER;
ALTER TABLE object ADD COLUMN misses INTEGER;           -- independent ones since it was last seen

-- The records of an older file lack what they now hold; all of it follows from the log.
INSERT INTO meta SELECT 'rebuild', 'records' WHERE EXISTS (SELECT 1 FROM object);
