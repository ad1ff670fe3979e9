-- PostgreSQL only: its index of paths refused long ones. SQLite has no such limit.
SELECT 1;
