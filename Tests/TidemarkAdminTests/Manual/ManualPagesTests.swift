// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import TidemarkAdmin

@Suite struct ManualPagesTests {
    /// As the program has it.
    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tidemark", abstract: "A cloud.", subcommands: [Admin.self])
    }

    private static let files = ManualPages.files(json: Root._dumpHelp()) ?? [:]

    @Test func `R-903: each noun has a page, with its verbs, arguments and options`() throws {
        #expect(Self.files.keys.contains("tidemark.1") && Self.files.keys.contains("tidemark-admin.1"))
        for noun in Admin.configuration.subcommands {
            let page = try #require(Self.files["tidemark-admin-\(noun._commandName).1"], "\(noun._commandName)")
            for verb in noun.configuration.subcommands {
                let name = verb._commandName.replacing("-", with: "\\-")
                #expect(page.contains("\n.SS \"tidemark admin \(noun._commandName) \(name)\"\n"), "\(name)")
            }
            #expect(page.contains("\\-\\-container <identifier>\n"), "\(noun._commandName)")
            #expect(page.contains("  tidemark admin") || page.contains("\ntidemark admin "), "an example")
        }
        #expect(Self.files.keys.allSatisfy { !$0.contains("help") })
    }

    @Test func `R-903: a page is one that man can show`() {
        for (name, page) in Self.files {
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(page.hasPrefix(".\\\" ") && page.hasSuffix("\n"))
            for section in ["NAME", "SYNOPSIS", "EXIT STATUS"] { #expect(lines.contains(".SH \(section)"), "\(name)") }
            #expect(lines.filter { $0 == ".nf" }.count == lines.filter { $0 == ".fi" }.count, "\(name)")
            #expect(lines.filter { $0.hasPrefix(".RS") }.count == lines.filter { $0 == ".RE" }.count, "\(name)")
            // A line that begins with a dot is one of the macros that are used here.
            let macros = [".\\\"", ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BR", ".nf", ".fi", ".RS", ".RE"]
            for line in lines where line.hasPrefix(".") || line.hasPrefix("'") {
                #expect(macros.contains { line == $0 || line.hasPrefix($0 + " ") }, "\(name): \(line)")
            }
        }
    }

    @Test func `R-903: what is no help makes no pages`() {
        #expect(ManualPages.files(json: "") == nil)
        #expect(ManualPages.files(json: "{}") == nil)
    }
}
