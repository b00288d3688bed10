// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct LateParentsTests {
    private func child(_ name: String, byteCount: Int = 0) throws -> RecordSave {
        let fields = try FieldMap([Field("b", .bytes([UInt8](repeating: 7, count: byteCount)))])
        return RecordSave(name: name, type: "Note", tag: nil, fields: fields, parent: .set("p"))
    }

    @Test func `R-868: few large records wait for their parents, so that memory is bounded`() throws {
        var waiting = LateParents()
        let large = 900_000
        var count = 0
        while waiting.add(try child("r\(count)", byteCount: large)) { count += 1 }
        #expect(count == waiting.children.count && count > 60)
        #expect(waiting.byteCount <= 64 * 1_048_576 && waiting.byteCount + large * 2 > 64 * 1_048_576)
        #expect(waiting.take().count == count)
        #expect(waiting.children.isEmpty && waiting.byteCount == 0)
        #expect(waiting.add(try child("again", byteCount: large)))
    }

    @Test func `R-868: many small records wait, up to their number`() throws {
        var waiting = LateParents()
        let one = try child("r")
        var count = 0
        while waiting.add(one) { count += 1 }
        #expect(count == 20_000 && waiting.children.count == count)
    }

    @Test func `R-868: an input of too many such records is refused, and it is said that sorting helps`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            let alice = try await place.user("alice")
            let terminal = RecordingTerminal()
            let console = Console(
                place.storage, loop: place.loop, screen: Screen(output: .table, terminal: terminal),
                container: AdminPlace.container.identifier, environment: .development)
            let service = CloudService(
                storage: place.storage, scheduler: place.loop, limits: .standard, onMoved: { _ in })
            let zone = ZoneKey(database: alice.privateDatabase, name: ZoneName.default)
            for room in [LateParents(countMax: 2), LateParents(bytesMax: 1_000)] {
                let saver = RecordSaver(console, service, zone: zone, user: alice.id, replaces: true, orphans: room)
                let blob = RecordLineField(.bytes([UInt8](repeating: 1, count: 400)))
                try await saver.save(RecordLine(recordName: "a", recordType: "Note", parent: nil, fields: [:]))
                for name in ["b", "c", "d"] {
                    try await saver.save(
                        RecordLine(recordName: name, recordType: "Note", parent: "z", fields: ["b": blob]))
                }
                let failure = await #expect(throws: AdminFailure.self) { try await saver.finish() }
                #expect(failure?.status == .refused)
                let text = failure?.description ?? ""
                #expect(text.contains("Sort the input") && text.contains("Saved 1, skipped 0"), "\(text)")
            }
            // As many as there is room for are saved with their parent.
            let saver = RecordSaver(
                console, service, zone: zone, user: alice.id, replaces: true, orphans: LateParents(countMax: 2))
            for (name, parent) in [("b", "z"), ("c", "b"), ("z", nil)] {
                try await saver.save(RecordLine(recordName: name, recordType: "Note", parent: parent, fields: [:]))
            }
            try await saver.finish()
            #expect(saver.tally.savedCount == 3 && saver.tally.failedCount == 0, "\(terminal.messages)")
            await service.stop()
        }
    }
}
