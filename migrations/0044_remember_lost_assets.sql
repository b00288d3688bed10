-- Assets whose files are lost for good: when an operator accepted that, and who (R-989). Backups and `store verify` tell them
-- apart from those that are lost since. Locks asset for a moment: new columns without a default rewrite nothing.
-- An acceptance counts until somebody sends the file or names it again, which is when touched_at is later.
ALTER TABLE asset
    ADD COLUMN loss_accepted_at timestamptz, -- null: never
    ADD COLUMN loss_accepted_by text COLLATE "C"; -- the operator
