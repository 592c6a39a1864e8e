-- mem_113: names are stored composed (NFC) and looked up composed; those that were stored otherwise follow. A name whose
-- composed form another entity has already stays as it is: the two are for a person to merge.
DO $$
BEGIN
    -- only UTF-8 knows two ways to write a character
    IF current_setting('server_encoding') = 'UTF8' THEN
        UPDATE entities e SET canonical_name = normalize(e.canonical_name, NFC)
        WHERE e.canonical_name IS NOT NFC NORMALIZED
          AND NOT EXISTS (SELECT FROM entities o WHERE o.tenant_id = e.tenant_id AND o.entity_type = e.entity_type AND o.id <> e.id
                            AND normalize(o.canonical_name, NFC) = normalize(e.canonical_name, NFC));
        UPDATE entities e
        SET aliases = ARRAY(SELECT normalize(a.alias, NFC) FROM unnest(e.aliases) WITH ORDINALITY AS a (alias, place) ORDER BY a.place)
        WHERE array_to_string(e.aliases, '') IS NOT NFC NORMALIZED;
    END IF;
END $$;
