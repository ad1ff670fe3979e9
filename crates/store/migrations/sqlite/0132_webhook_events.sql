-- Webhooks report follow-ups, too. Events that were not delivered can be sent again for 30 days. A new secret signs beside the old one for a day.
-- Tables: none

-- The follow-up that an event is about, by the id and the position of its prompt.
ALTER TABLE webhook_deliveries ADD COLUMN follow_up TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN position BIGINT;
CREATE INDEX webhook_deliveries_given_up ON webhook_deliveries (webhook_id, at) WHERE outcome = 'given_up';

ALTER TABLE webhooks ADD COLUMN old_secret TEXT;
ALTER TABLE webhooks ADD COLUMN old_secret_until BIGINT;
