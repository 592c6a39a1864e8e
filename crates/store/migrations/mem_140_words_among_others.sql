-- mem_140: the words of a tenant among others cost what they cost alone.
--
-- The index of words knows no tenants: for each match of a tenant with a fifth of the table four of others are fetched and
-- passed over, at about half of what ranking one costs. The budget of what is looked at counts them.
DO $do$
DECLARE
    name text;
    body text;
    was constant text := 'THEN 1500 ELSE 400 END;';
    becomes constant text := 'THEN 1500 ELSE 400 END * 2.2 / (1.5 + 0.7 * greatest(1, total / greatest(1, rows_here)));';
BEGIN
    FOREACH name IN ARRAY ARRAY['facts_found', 'rules_found', 'episodes_found'] LOOP
        body := pg_get_functiondef(format('%I.%I', current_schema(), name)::regproc);
        IF strpos(body, was) = 0 THEN
            RAISE EXCEPTION '% is not as mem_090 left it', name;
        END IF;
        EXECUTE replace(body, was, becomes);
    END LOOP;
END $do$;
