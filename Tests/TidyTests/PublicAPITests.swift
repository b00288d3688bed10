// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What apps can see of the libraries, beside what they could see before: `Tests/PublicAPI.txt`.
@Suite struct PublicAPITests {
    private static let baseline = SourceFile.root.appendingPathComponent("Tests/PublicAPI.txt")

    private static var declared: [String] {
        get throws {
            let folders = ["Sources/TidemarkKit/", "Sources/CoreLocation/", "Sources/TidemarkTestKit/"]
            let lines = try folders.flatMap(PublicDeclaration.all).map { declaration in
                declaration.type.map { "\($0): \(declaration.signature)" } ?? declaration.signature
            }
            return Set(lines).sorted()
        }
    }

    /// A declaration that changes is one that is gone and one that is new.
    @Test func `the public API is the stored one, so that a break is a decision`() throws {
        let declared = try Self.declared
        #expect(declared.count > 1_000, "the sources cannot be read")
        if ProcessInfo.processInfo.environment["TIDEMARK_ACCEPT_API"] != nil {
            try (declared.joined(separator: "\n") + "\n").write(to: Self.baseline, atomically: true, encoding: .utf8)
        }
        let stored = try String(contentsOf: Self.baseline, encoding: .utf8).split(separator: "\n").map(String.init)
        let gone = Set(stored).subtracting(declared).sorted()
        let new = Set(declared).subtracting(stored).sorted()
        #expect(gone == [], "Apps that use these break. If that is decided: make api, and a line in CHANGELOG.md.")
        #expect(new == [], "Accept them with: make api")
    }
}
