-- What is known of a found memory is read once, by the program. As jsonb it took twice as long to build.
ALTER TYPE retrieved ALTER ATTRIBUTE info TYPE json;
