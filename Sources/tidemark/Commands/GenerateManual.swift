// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin

/// Writes the pages of `deploy/man`. For `make manual`; users need not see it.
struct GenerateManual: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-manual", abstract: "Write the pages of the manual.", shouldDisplay: false)

    @Argument(help: "The directory, which has nothing else in it.") var directory: String

    func run() throws {
        guard let files = ManualPages.files(json: Tidemark._dumpHelp()) else {
            throw AdminFailure(.fault, "The help of the commands cannot be read.")
        }
        do {
            let files = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".1") }
            for file in files { try FileManager.default.removeItem(atPath: "\(directory)/\(file)") }
        } catch {
            throw AdminFailure(.refused, "The directory \(directory) cannot be used. Check that it exists.")
        }
        for (name, text) in files { try AtomicFile.write(Data(text.utf8), to: "\(directory)/\(name)", mode: 0o644) }
    }
}
