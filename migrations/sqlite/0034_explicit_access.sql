-- Whether a person may see all projects or selected ones is explicit, so that an empty selection gives access to none. Invitations
-- have their author: those of an administrator who is disabled or demoted wait for the decision of another one.
ALTER TABLE users ADD COLUMN project_access TEXT NOT NULL DEFAULT 'selected' CHECK (project_access IN ('all', 'selected'));
UPDATE users SET project_access = 'all' WHERE projects IS NULL AND group_projects IS NULL;

ALTER TABLE invitations ADD COLUMN invited_by TEXT;
ALTER TABLE invitations ADD COLUMN held_at BIGINT;
UPDATE invitations SET invited_by = (
    SELECT a.actor_id FROM audit a JOIN users u ON u.name = a.subject
    WHERE u.id = invitations.user_id AND a.action IN ('user_invite', 'user_invite_again')
    ORDER BY a.number DESC LIMIT 1);
