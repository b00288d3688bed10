// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the manifest says of the targets, beside what their files import.
@Suite struct PackageTests {
    @Test func `a target depends on what it imports, and on nothing else`() throws {
        let targets = PackageTarget.all
        #expect(targets.count > 60, "Package.swift cannot be read")
        // Modules of this package, and of others.
        let names = Set(targets.flatMap { [$0.module] + $0.dependencies.map(\.module) })
        for target in targets where !target.sources.isEmpty {
            let imported = Set(target.sources.flatMap(\.imports))
            for dependency in target.dependencies where !imported.contains(dependency.module) {
                // A test runs programs without importing them.
                let isRun =
                    target.kind == .tests && targets.contains { $0.name == dependency.name && $0.kind == .program }
                #expect(isRun, "\(target.name) depends on \(dependency.name), and no file of it imports that")
            }
            let known = Set(target.dependencies.map(\.module)).union([target.module])
            for module in imported.subtracting(known) where names.contains(module) {
                Issue.record("\(target.name) imports \(module) without depending on it")
            }
        }
    }

    @Test func `what the tests need is in no product`() throws {
        for target in PackageTarget.all where target.path.hasPrefix("Sources/") {
            for dependency in target.dependencies {
                let other = PackageTarget.all.first { $0.name == dependency.name }
                #expect(other?.path.hasPrefix("Tests/") != true, "\(target.name) depends on \(dependency.name)")
            }
        }
    }
}

/// One call of Package.swift that makes a target.
struct PackageTarget {
    enum Kind {
        case library, program, tests
    }

    /// A target's or a product's name, and the module that files import.
    struct Dependency {
        let name: String
        let module: String
    }

    let name: String
    let kind: Kind
    /// The folder, from the root of the repository.
    let path: String
    let dependencies: [Dependency]
    /// Its Swift files.
    let sources: [SourceFile]

    var module: String { Self.module(of: name) }

    static let all: [PackageTarget] = {
        let file = SourceFile.root.appendingPathComponent("Package.swift")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        let products = Self.products(in: text)
        guard let start = text.range(of: "\n    targets: [", options: .backwards) else { return [] }
        let call = /\b(target|executable|tests|executableTarget|testTarget)\(/
        return text[start.upperBound...].matches(of: call).compactMap { match in
            PackageTarget(String(match.1), arguments(of: text[match.range.upperBound...]), products)
        }
    }()

    private init?(_ function: String, _ arguments: Substring, _ products: [String: String]) {
        guard let name = arguments.firstMatch(of: /"([\w-]+)"/)?.1 else { return nil }
        self.name = String(name)
        kind =
            switch function {
            case "executable", "executableTarget": .program
            case "tests", "testTarget": .tests
            default: .library
            }
        let folder = kind == .tests ? "Tests/" : "Sources/"
        let path = arguments.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) } ?? folder + name
        self.path = path
        sources = ((try? SourceFile.all) ?? []).filter { $0.path.hasPrefix(path + "/") }
        dependencies = Self.dependencies(in: arguments, products)
    }

    private static func dependencies(in arguments: Substring, _ products: [String: String]) -> [Dependency] {
        let hasNames = arguments.prefix { $0 != "[" }.contains("dependencies:") || !arguments.contains("name:")
        guard hasNames, let list = arguments.firstMatch(of: /\[([^\]]*)\]/)?.1 else { return [] }
        return list.split(separator: ",").compactMap { item in
            let item = item.split(separator: "\n").last { !$0.contains("//") } ?? ""
            let word = item.trimmingCharacters(in: .whitespaces)
            guard !word.isEmpty else { return nil }
            let name = word.hasPrefix("\"") ? String(word.dropFirst().dropLast()) : products[word] ?? word
            return Dependency(name: name, module: module(of: name))
        }
    }

    /// The products of other packages, by the names that the manifest gives them.
    private static func products(in text: String) -> [String: String] {
        let declared = text.matches(of: /let (\w+): Target\.Dependency = \.product\(name: "(\w+)"/)
        return Dictionary(declared.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }

    private static func module(of name: String) -> String {
        name.replacingOccurrences(of: "-", with: "_")
    }

    /// From after an opening parenthesis to the one that closes it.
    private static func arguments(of text: Substring) -> Substring {
        var depth = 1
        let end = text.firstIndex { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth == 0
        }
        return text[..<(end ?? text.endIndex)]
    }
}

extension SourceFile {
    /// The modules that the file imports.
    var imports: [String] {
        let statement =
            /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|private|fileprivate) )?import (?:\w+ )?(\w+)/
        return code.filter { $0.text.contains("import ") }.compactMap { line in
            line.text.firstMatch(of: statement).map { String($0.1) }
        }
    }
}
