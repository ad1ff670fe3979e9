-- PostgreSQL only: its index of paths refused long ones. SQLite has no such limit.
-- Tables: none
SELECT 1;
