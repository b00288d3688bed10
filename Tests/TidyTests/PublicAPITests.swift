// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What apps can see of the libraries, beside what they could see before: `Tests/PublicAPI.txt`.
@Suite struct PublicAPITests {
    private static let baseline = SourceFile.root.appendingPathComponent("Tests/PublicAPI.txt")

    private static var declared: [String] {
        get throws {
            let modules = ["TidemarkKit", "CloudKit", "CoreLocation", "TidemarkTestKit"]
            let lines = try modules.flatMap { try PublicDeclaration.all(in: "Sources/\($0)/") }.map { declaration in
                declaration.type.map { "\($0)\(declaration.condition): \(declaration.signature)" }
                    ?? declaration.signature
            }
            return Set(try lines + conformances(in: modules) + modules.flatMap(imports(handedOnBy:))).sorted()
        }
    }

    /// What extensions make conform to what, but for the types and protocols that apps cannot see.
    private static func conformances(in modules: [String]) throws -> [String] {
        let type = /^(?:package |private |fileprivate |final |indirect )*(?:class|struct|enum|protocol|actor) (\w+)/
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        let hidden = Set(
            files.flatMap { file in
                file.lines.filter { $0.first?.isLetter == true }.compactMap { $0.firstMatch(of: type)?.1 }
            })
        let conformance = /^((?:@\w+\(.*?\) )*extension (\w+)[\w.]*): (.+?)( where .+?)? \{/
        return files.filter { modules.contains($0.path.split(separator: "/")[1].description) }
            .flatMap(\.code).compactMap { line in
                guard line.text.contains("extension "), let match = line.text.firstMatch(of: conformance),
                    !hidden.contains(match.2)
                else { return nil }
                let protocols = match.3.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                    .filter { !hidden.contains($0[...]) }
                return protocols.isEmpty ? nil : "\(match.1): \(protocols.joined(separator: ", "))\(match.4 ?? "")"
            }
    }

    /// The imports whose symbols a module makes its own.
    private static func imports(handedOnBy module: String) throws -> [String] {
        try SourceFile.all.filter { $0.path.hasPrefix("Sources/\(module)/") }.flatMap(\.code)
            .filter { $0.text.hasPrefix("@_exported ") }.map { "\(module): \($0.text)" }
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

    @Test func `R-259: the operations that read missed notifications are not offered`() throws {
        let declared = try Self.declared
        for name in ["CKFetchNotificationChangesOperation", "CKMarkNotificationsReadOperation"] {
            #expect(!declared.contains { $0.contains(name) }, "\(name)")
            let differences = try SourceFile.text(at: "Sources/TidemarkKit/TidemarkKit.docc/DifferencesFromCloudKit.md")
            #expect(differences.contains("`\(name)`"), "apps that use \(name) are told that it is left out")
        }
        // The kind of the history's entries stays, because apps switch over the kinds.
        #expect(declared.contains("CKNotification.NotificationType: case readNotification = 3"))
    }

    /// What each of them does is in rules of its own.
    @Test func `R-333: what OS 18 and 26 have added to shares is offered`() throws {
        let declared = try Self.declared
        let added = [
            "oneTimeURLParticipant()", "oneTimeURL(for", "var dateAddedToShare", "var allowsAccessRequests",
            "class CKShareAccessRequester", "class CKShareBlockedIdentity", "class CKShareRequestAccessOperation",
            "func denyRequesters", "func blockRequesters", "func unblockIdentities", "case administrator",
        ]
        for symbol in added {
            #expect(declared.contains { $0.contains(symbol) }, "\(symbol)")
        }
    }
}
