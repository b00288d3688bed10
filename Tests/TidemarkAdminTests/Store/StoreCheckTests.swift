// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkPostgres
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct StoreCheckTests {
    /// The codes of what is found.
    private func codes(_ place: BackupPlace, _ more: String...) async throws -> [String] {
        let (status, said) = try await place.run(
            ["store", "verify", "-o", "name", "--asset-directory", place.assets] + more)
        #expect(status == .ok, "\(said.messages)")
        return said.data.split(separator: "\n").map(String.init)
    }

    private func execute(_ place: BackupPlace, _ statements: String...) throws {
        try PostgresAdministration.execute(statements, url: place.url)
    }

    @Test func `R-956: in a store where all is right nothing is found, and nothing is changed`() async throws {
        try await BackupPlace.with { place in
            #expect(try await codes(place, "--deep") == [])
            let (status, said) = try await place.run("store", "verify", "--ci")
            #expect(status == .ok && said.messages == ["Nothing was found."])
            let (without, told) = try await place.run("store", "verify", "--deep")
            #expect(without == .usage && told.messages.last?.contains("--asset-directory") == true)
        }
    }

    @Test func `R-956: files that are missing, damaged or of no record are found`() async throws {
        try await BackupPlace.with { place in
            let file = try place.assetFile(in: place.assets)
            try place.damage(file)
            // Only whoever reads it sees it.
            #expect(try await codes(place) == [])
            #expect(try await codes(place, "--deep") == ["asset-file-damaged"])
            try place.writeAsset(Array("short".utf8))
            #expect(try await codes(place) == ["asset-file-damaged"])
            try FileManager.default.removeItem(atPath: file)
            #expect(try await codes(place) == ["asset-file-missing"])
            let (status, _) = try await place.run("store", "verify", "--ci", "--asset-directory", place.assets)
            #expect(status == .failedCheck)
            try place.writeAsset(BackupPlace.content)
            let other = String(repeating: "ab", count: 32)
            let shelf = "\(place.assets)/1/ab"
            try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
            try Data("12345".utf8).write(to: URL(fileURLWithPath: "\(shelf)/\(other).5"))
            #expect(try await codes(place, "--deep") == ["asset-row-missing"])
            let (missing, said) = try await place.run(
                "store", "verify", "-o", "name", "--asset-directory", place.path("none"))
            #expect(missing == .ok && said.data == "file-missing\n")
        }
    }

    @Test func `R-956: an asset that no record names is found once it should have been collected`() async throws {
        try await BackupPlace.with { place in
            try execute(place, "DELETE FROM asset_use")
            #expect(try await codes(place) == [], "it is within its grace")
            try execute(place, "UPDATE asset SET touched_at = now() - interval '26 hours'")
            #expect(try await codes(place) == [], "servers collect it within three hours")
            try execute(place, "UPDATE asset SET touched_at = now() - interval '28 hours'")
            #expect(try await codes(place) == ["assets-uncollected"])
            #expect(try await codes(place, "--asset-grace-hours", "48") == [])
        }
    }

    @Test func `R-956: what quotas count and digests of zones are compared with the records`() async throws {
        try await BackupPlace.with { place in
            try execute(place, "UPDATE asset_total SET byte_count = byte_count + 1")
            #expect(try await codes(place) == ["asset-bytes"])
            try execute(place, "UPDATE asset_total SET byte_count = byte_count - 1", "UPDATE zone SET byte_count = 7")
            #expect(try await codes(place) == ["zone-bytes"])
            try execute(place, "UPDATE zone SET byte_count = 2 * 134, record_count = 3")
            #expect(try await codes(place) == ["zone-digest"])
            try execute(place, "UPDATE zone SET record_count = 2, digest_low = digest_low # 1")
            #expect(try await codes(place) == ["zone-digest"])
            try execute(place, "UPDATE zone SET digest_number = -1")
            #expect(try await codes(place) == ["zone-digest-unknown"])
            #expect(try await place.run("store", "mend").status == .ok)
            #expect(try await codes(place) == [])
            try execute(place, "UPDATE record SET change_number = 9 WHERE name = 'r2'")
            #expect(try await codes(place) == ["zone-head", "zone-digest"])
        }
    }

    @Test
    func `R-278: what is counted for accounts in a public database is compared with what they created, and mended`()
        async throws
    {
        try await BackupPlace.with { place in
            try execute(place, "UPDATE database SET scope = 1, user_id = NULL")
            #expect(try await codes(place) == ["public-bytes"])
            let (_, planned) = try await place.run("store", "mend", "--dry-run")
            #expect(planned.messages.last?.contains("1 public database") == true, "\(planned.messages)")
            #expect(try await codes(place) == ["public-bytes"], "nothing was changed")
            let (_, mended) = try await place.run("store", "mend")
            #expect(mended.messages.last?.contains("1 public database") == true, "\(mended.messages)")
            #expect(try await codes(place) == [])
            // Two records of a two-letter name, and an asset.
            let sum = 2 * (128 + 2 + 4) + BackupPlace.content.count
            try execute(
                place, "UPDATE public_use SET byte_count = byte_count + 1 WHERE user_id = 1 AND byte_count = \(sum)")
            #expect(try await codes(place) == ["public-bytes"])
            try execute(
                place, "UPDATE public_use SET byte_count = byte_count - 1",
                "INSERT INTO public_use SELECT id, 77, 5 FROM database")
            let (_, said) = try await place.run("store", "verify")
            #expect(said.data.contains("counts 5 bytes of the user 77, who has created 0."), "\(said.data)")
            #expect(try await place.run("store", "mend").status == .ok)
            #expect(try await codes(place) == [])
            let (_, again) = try await place.run("store", "mend")
            #expect(again.messages.last?.contains("nothing to mend") == true, "\(again.messages)")
        }
    }

    @Test func `R-956: of very many findings of a kind the rest is counted`() {
        #expect(StoreCheck.findings(missing: 20, damaged: 20, toldMax: 20) == [])
        let rest = StoreCheck.findings(missing: 21, damaged: 120, toldMax: 20)
        #expect(rest.map(\.code) == [.assetFileMissing, .assetFileDamaged])
        #expect(rest.map(\.text) == ["1 further asset without a file.", "100 further assets damaged."])
    }
}
