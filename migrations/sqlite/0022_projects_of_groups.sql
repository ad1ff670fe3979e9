-- What a person's groups give, for people whom a provider or a proxy vouches for: ids of projects, separated by commas, * for every
-- project, empty for none. Where it stands, a person sees these and those in projects; without it, projects alone counts, and there
-- nothing is every project.
ALTER TABLE users ADD COLUMN group_projects TEXT;

-- People who came through single sign-on or a proxy saw every project unless an administrator had limited them. From now on their groups
-- say. They sign in again, so that their groups are read.
UPDATE users SET group_projects = '', session_stamp = session_stamp || '-'
    WHERE id IN (SELECT user_id FROM identities)
    OR (password_hash = '' AND id NOT IN (SELECT user_id FROM invitations));
