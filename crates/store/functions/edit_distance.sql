-- Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). Only the cells within p_most of
-- the diagonal are computed, and only until all cells of a row exceed p_most, which for most pairs is after a few letters.
-- fuzzystrmatch does not count swaps, which are among the commonest typing errors, and may not be installed.
CREATE OR REPLACE FUNCTION edit_distance(p_one text, p_other text, p_most integer)
RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    one constant text[] := string_to_array(p_one, NULL);
    other constant text[] := string_to_array(p_other, NULL);
    length_one constant integer := coalesce(cardinality(one), 0);
    length_other constant integer := coalesce(cardinality(other), 0);
    far constant integer[] := array_fill(p_most + 1, ARRAY[length_other + 1]);
    -- Element j + 1 is the distance of the first i letters of one from the first j of other.
    earlier integer[];
    before integer[];
    this integer[];
    cell integer;
    best integer;
BEGIN
    IF p_one = p_other THEN
        RETURN 0;
    ELSIF abs(length_one - length_other) > p_most THEN
        RETURN NULL;
    END IF;
    before := ARRAY(SELECT least(j, p_most + 1) FROM generate_series(0, length_other) AS j);
    FOR i IN 1 .. length_one LOOP
        this := far;
        this[1] := least(i, p_most + 1);
        best := this[1];
        FOR j IN greatest(1, i - p_most) .. least(length_other, i + p_most) LOOP
            IF one[i] = other[j] THEN
                cell := before[j];
            ELSE
                cell := 1 + least(before[j], before[j + 1], this[j]);
                IF i > 1 AND j > 1 AND one[i] = other[j - 1] AND one[i - 1] = other[j] THEN
                    cell := least(cell, 1 + earlier[j - 1]);
                END IF;
            END IF;
            this[j + 1] := cell;
            best := least(best, cell);
        END LOOP;
        IF best > p_most THEN
            RETURN NULL;
        END IF;
        earlier := before;
        before := this;
    END LOOP;
    RETURN CASE WHEN before[length_other + 1] <= p_most THEN before[length_other + 1] END;
END $$;
COMMENT ON FUNCTION edit_distance IS 'The number of typing errors that turn one word into the other; NULL if it exceeds p_most.';
