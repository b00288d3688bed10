// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    static let causes: [Scenario] = [
        Scenario("R-918: a record keeps the request of its last change, in a group each its own") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("notes", "other", in: database).map(\.key)
            func cause(_ number: UInt64) -> ChangeCause { ChangeCause(high: 0x8A01_0203_0405_8607, low: number) }
            func expectCauses(_ expected: [String: ChangeCause?], _ promise: String) async throws {
                for (name, cause) in expected {
                    try expectEqual(try await store.cause(name, keys[0]), cause, "\(promise): \(name)")
                }
            }
            try await store.write(
                [
                    RecordDraft("a", cause: cause(1)), RecordDraft("b", cause: cause(.max)), RecordDraft("c"),
                    RecordDraft("d", isDeleted: true, cause: cause(1)),
                ], in: keys[0])
            try await expectCauses(["a": cause(1), "b": cause(.max), "c": nil, "d": cause(1)], "at first")
            // What a device sends: one zone, one request, which is remembered.
            var memory = RequestMemory()
            let request = RequestID(device: DeviceID(high: 1, low: 1), counter: 1, lowestUnanswered: 1)
            memory.remember([1], of: request, limits: Limits())
            try await store.write(
                [RecordDraft("a", text: "new", cause: cause(2)), RecordDraft("c", cause: cause(2))], in: keys[0],
                on: store.second, memories: [DeviceID(high: 1, low: 1): memory])
            try await expectCauses(["a": cause(2), "b": cause(.max), "c": cause(2), "d": cause(1)], "changed again")
            // A change of which nobody knows the request has none, and no earlier one's.
            try await store.write([RecordDraft("b", text: "new"), RecordDraft("d")], in: keys[0])
            try await expectCauses(["a": cause(2), "b": nil, "c": cause(2), "d": nil], "by nobody who is known")
            try await store.write([RecordDraft("a", cause: cause(9))], in: keys[1])
            try await expectCauses(["a": cause(2)], "whatever is in another zone")
        }
    ]
}
