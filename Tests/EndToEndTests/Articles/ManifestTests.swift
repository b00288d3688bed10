// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Each `Package.swift` of the articles, as SwiftPM reads it.
@Suite struct ManifestTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private struct Description: Decodable {
        struct Product: Decodable { let name: String }
        let products: [Product]
    }

    /// Each once, in no order.
    private func manifests() throws -> Set<String> {
        let folder = Self.root.appendingPathComponent("Sources/TidemarkKit/TidemarkKit.docc")
        var manifests: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "md" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /```swift\n(\/\/ swift-tools-version[\s\S]*?)```/) {
                manifests.insert(String(match.1))
            }
        }
        return manifests
    }

    private func describe(_ path: String, in directory: TestDirectory) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "swift", ["swift", "package", "--package-path", path, "dump-package"], directory: directory.path,
            path: "/usr/bin/env", within: .seconds(240))
    }

    @Test func `the packages of the articles are packages, and take products that there are`() async throws {
        let manifests = try manifests()
        #expect(manifests.count >= 5)
        let products = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
            .matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) }
        let directory = try TestDirectory()
        defer { directory.remove() }
        for (number, manifest) in manifests.sorted().enumerated() {
            let package = "\(directory.path)/\(number)"
            try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
            try Data(manifest.utf8).write(to: URL(fileURLWithPath: "\(package)/Package.swift"))
            let result = try await describe(package, in: directory)
            #expect(result.status == 0, "\(manifest)\n\(result.output)")
            for match in manifest.matches(of: /\.product\(name: "(\w+)", package: "tidemark"\)/) {
                #expect(products.contains(String(match.1)), "\(match.1)")
            }
        }
    }
}
