// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

extension StorageConformance {
    static let closing: [Scenario] = [
        Scenario("R-916: nobody enters a container that is closed, on no server, and other containers are open") {
            store in
            let alice = try await store.alice()
            let publicDatabase = try await store.first.publicDatabase(of: key, now: StorageFixture.now)
            try expect(publicDatabase != nil, "there is a public database")
            try expectEqual(try await store.second.closedContainers(among: [alice.container]), [], "it is open")
            let closed = try require(try await store.first.closeContainer(key), "the container")
            try expectEqual(closed.id, alice.container, "its number")
            for storage in [store.first, store.second] {
                for hash in [Credentials.alice, Credentials.bob] {
                    try await expectError(.containerClosed, "who has been there, and who has not") {
                        try await storage.identity(
                            credentialHash: hash, container: key.identifier, environment: key.environment,
                            containersMax: .max, now: StorageFixture.now)
                    }
                }
                try await expectError(.containerClosed, "also without an account") {
                    try await storage.publicDatabase(of: key, now: StorageFixture.now)
                }
            }
            let revoked = try await store.first.identity(
                credentialHash: Credentials.revoked, container: key.identifier, environment: key.environment,
                containersMax: .max, now: StorageFixture.now)
            try expect(revoked == nil, "who may not sign in is not told of it")
            let elsewhere = try await store.second.identity(
                credentialHash: Credentials.alice, container: key.identifier, environment: .production,
                containersMax: .max, now: StorageFixture.now)
            let other = try require(elsewhere?.container, "the other environment is open")
            let void = try await store.second.closedContainers(
                among: [alice.container, other, ContainerID(987_654)])
            try expectEqual(
                Set(void), [alice.container, ContainerID(987_654)], "what is closed, and what is not there")
        },
        Scenario("R-916: in a closed container no zone is created and nothing is taught or subscribed to") { store in
            let alice = try await store.alice()
            let version = try await store.first.schemaVersion(of: alice.container)
            _ = try await store.second.closeContainer(key)
            try await expectError(.containerClosed, "no zone is created") {
                try await store.first.beginZonesWrite(
                    in: alice.privateDatabase, names: ["Late"], life: DeviceID(high: 1, low: 1))
            }
            try await expectError(.containerClosed, "saves find no schema") {
                try await store.first.schema(of: alice.container)
            }
            let lesson = SchemaLesson(fields: ["Note": ["text": FieldSchema(SchemaFieldType(.string))]])
            try await expectError(.containerClosed, "nothing is taught") {
                try await store.first.learn(lesson, in: alice.container)
            }
            try await expectError(.containerClosed, "nobody subscribes") {
                try await store.first.saveSubscriptions(
                    [Subscription(id: "s", scope: .private, kind: .database, recordType: nil, notificationInfo: [])],
                    of: alice.user, atMost: 9)
            }
            try expect(
                try await store.first.schemaVersion(of: alice.container) != version,
                "servers that remember the schema ask again")
            try expectEqual(
                try await store.first.zones(in: alice.privateDatabase).map(\.key.name), [ZoneName.default],
                "what is there can be read until it is gone")
        },
        Scenario("R-917: a container is closed once, whoever closes it again") { store in
            let container = try await store.alice().container
            let first = try await store.first.closeContainer(key)
            let second = try await store.second.closeContainer(key)
            try expectEqual(first?.id, container, "the container")
            try expectEqual(second, first, "it is the same deletion")
            let none = try await store.first.closeContainer(
                ContainerKey(identifier: "iCloud.none", environment: .development))
            try expectEqual(none, nil, "there is no such container")
        },
    ]

    private static let key = ContainerKey(identifier: "iCloud.test", environment: .development)
}
