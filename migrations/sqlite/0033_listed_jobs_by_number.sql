-- Of PostgreSQL alone: here the number of a job is the place of its row.
SELECT 1;
