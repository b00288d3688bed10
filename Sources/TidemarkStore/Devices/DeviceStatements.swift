// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// What is to be kept of one device.
struct KeptProgress: Sendable {
    let of: AccountDevice
    /// When that was written whose place it takes. Nothing was: the time of now.
    let notedAt: Timestamp
    let bytes: [UInt8]
}

/// The SQL of what servers know of devices.
///
/// NB: with a plain join PostgreSQL may read the whole table, as long as it believes that it is empty.
struct DeviceStatements: Sendable {
    let progress = DeclaredStatement<[AccountDevice], (of: AccountDevice, noted: NotedProgress)>(
        .read, "device_progress",
        """
        SELECT p.account_id, p.device_id, p.noted_at, p.progress
          FROM unnest(\(\.self, \.account), \(\.self, \.device)) AS k (account_id, device_id)
         CROSS JOIN LATERAL (
               SELECT * FROM device_progress
                WHERE account_id = k.account_id AND device_id BETWEEN k.device_id AND k.device_id
                ORDER BY account_id, device_id LIMIT 1) AS p
        """
    ) { row throws(PostgresError) in
        let bytes: [UInt8] = try row["progress"]
        return (
            AccountDevice(account: try row["account_id"], device: try row["device_id"]),
            NotedProgress(DeviceProgress(decoding: bytes), at: try row["noted_at"])
        )
    }

    /// In the order of the list, so that no two servers wait for each other in a circle.
    ///
    /// When an operator asks, all servers write at the same moment. A row that another server has written since it was
    /// read stays. NB: what is inserted has the time of what was read, because `excluded` is all of it that can be compared. A
    /// new row has the time of now, and that counts as nothing that was read.
    let keep = DeclaredStatement<(rows: [KeptProgress], now: Timestamp), AccountDevice>(
        .write, "keep_device_progress",
        """
        INSERT INTO device_progress AS p (account_id, device_id, noted_at, progress)
        SELECT d.account_id, d.id, k.noted_at, k.progress
          FROM unnest(\(\.rows, \.of.account), \(\.rows, \.of.device), \(\.rows, \.notedAt), \(\.rows, \.bytes))
               AS k (account_id, device_id, noted_at, progress)
         CROSS JOIN LATERAL (
               SELECT account_id, id FROM device
                WHERE account_id = k.account_id AND id BETWEEN k.device_id AND k.device_id
                ORDER BY account_id, id LIMIT 1) AS d
            ON CONFLICT (account_id, device_id) DO UPDATE
           SET noted_at = \(\.now), progress = excluded.progress
         WHERE p.noted_at = excluded.noted_at AND excluded.noted_at <> \(\.now)
        RETURNING p.account_id, p.device_id
        """
    ) { row throws(PostgresError) in AccountDevice(account: try row["account_id"], device: try row["device_id"]) }

    // MARK: For operators

    /// The devices of an account with what is known of them, those that were seen last first.
    let facts = DeclaredStatement<(account: AccountID, countMax: Int), DeviceFacts>(
        .read, "admin_device_facts",
        """
        SELECT d.id, d.name, d.first_seen_at, d.last_seen_at, p.noted_at, p.progress
          FROM device d LEFT JOIN device_progress p ON p.account_id = d.account_id AND p.device_id = d.id
         WHERE d.account_id = \(\.account)
         ORDER BY d.last_seen_at DESC, d.id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        let bytes: [UInt8]? = try row["progress"]
        return DeviceFacts(
            device: try row["id"], name: try row["name"], firstSeenAt: try row["first_seen_at"],
            lastSeenAt: try row["last_seen_at"], notedAt: try row["noted_at"],
            progress: bytes.flatMap { DeviceProgress(decoding: $0) })
    }

    /// What is known of devices, by account and device.
    let links = DeclaredStatement<
        (after: AccountDevice, first: Int64, last: Int64, countMax: Int), AdminStore.KeptLink
    >(
        .read, "admin_device_links",
        """
        SELECT p.account_id, p.device_id, a.name AS account_name, d.name AS device_name, p.noted_at, p.progress
          FROM device_progress p
          JOIN account a ON a.id = p.account_id
          JOIN device d ON d.account_id = p.account_id AND d.id = p.device_id
         WHERE (p.account_id, p.device_id) > (\(\.after.account), \(\.after.device))
           AND p.account_id BETWEEN \(\.first) AND \(\.last)
         ORDER BY p.account_id, p.device_id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        let bytes: [UInt8] = try row["progress"]
        return AdminStore.KeptLink(
            of: AccountDevice(account: try row["account_id"], device: try row["device_id"]),
            account: try row["account_name"], deviceName: try row["device_name"], notedAt: try row["noted_at"],
            link: DeviceProgress(decoding: bytes)?.link)
    }

    /// Where feeds end, and since when there is something after a place. No row: there is no such database.
    let places = DeclaredStatement<[FeedProgress], AdminStore.FeedEnd>(
        .read, "admin_feed_ends",
        """
        SELECT k.ordinal, d.scope, c.identifier, c.environment, z.name,
               CASE WHEN k.zone_id = 0 THEN f.head ELSE z.change_number END AS head, n.modified_at
          FROM unnest(\(\.self, \.database), \(\.self, \.zoneNumber), \(\.self, \.told))
               WITH ORDINALITY AS k (database_id, zone_id, told, ordinal)
          JOIN database d ON d.id = k.database_id
          JOIN container c ON c.id = d.container_id AND c.deleted_identifier IS NULL
          LEFT JOIN feed f ON f.database_id = k.database_id AND k.zone_id = 0
          LEFT JOIN zone z ON z.database_id = k.database_id AND z.id = k.zone_id AND z.removal IS NULL
          LEFT JOIN LATERAL (
               SELECT r.modified_at FROM record r
                WHERE r.database_id = z.database_id AND r.zone_id = z.id AND r.change_number > k.told
                ORDER BY r.change_number LIMIT 1) AS n ON true
        """
    ) { row throws(PostgresError) in
        guard let scope = DatabaseScope(rawValue: try row["scope"]),
            let environment = ContainerEnvironment(rawValue: try row["environment"])
        else { throw PostgresError(.unexpectedResult, detail: "admin_feed_ends") }
        let ordinal: Int = try row["ordinal"]
        return AdminStore.FeedEnd(
            index: ordinal - 1, scope: scope,
            container: ContainerKey(identifier: try row["identifier"], environment: environment),
            zone: try row["name"], head: try row["head"], behindSince: try row["modified_at"])
    }

    /// The databases of an account that have a quota of their container's, and how full they are.
    let uses = DeclaredStatement<(account: AccountID, countMax: Int), StorageUse>(
        .read, "admin_quota_uses",
        """
        SELECT n.bytes_max, n.byte_count
          FROM container_user u
          JOIN database d ON d.user_id = u.id AND d.scope = 2
          JOIN container c ON c.id = d.container_id
         CROSS JOIN LATERAL (
               SELECT \(QuotaStatements.bytesMax) AS bytes_max, \(QuotaStatements.heldBytes) AS byte_count) AS n
         WHERE u.account_id = \(\.account) AND n.bytes_max IS NOT NULL
         ORDER BY d.id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        StorageUse(byteCount: try row["byte_count"], bytesMax: try row["bytes_max"])
    }
}

extension FeedProgress {
    /// 0: the feed of the database.
    fileprivate var zoneNumber: Int64 { zone?.rawValue ?? 0 }
}
