-- One-time links (R-970): whoever comes first with the link of a participant becomes that participant. The secret is stored, and
-- not its hash, because the owner's devices show the link for as long as the participant is in the share. Locks
-- `share_participant` for a moment.

ALTER TABLE share_participant ADD COLUMN link_secret bytea; -- null: invited by name or by address, or joined by the URL
