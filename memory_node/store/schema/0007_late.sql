-- Records of objects that a view changed in numbers only, as they are since. Their rows are written
-- behind: meta glances_to says up to which log line all of them have come; what is older is removed.

CREATE TABLE late_record (
    seq INTEGER PRIMARY KEY REFERENCES view(seq),
    records BLOB NOT NULL,           -- one after the other, each as object.record begins
    more_labels BLOB                 -- beyond the slots: int32 place, int32 label, float64 mass
);
