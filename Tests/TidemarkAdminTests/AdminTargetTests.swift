// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin

/// Where a command goes.
@Suite struct AdminTargetTests {
    private static let contexts: ContextList = {
        var list = ContextList()
        list.set(AdminContext(name: "dev", target: .database(url: "dev-url"), container: "iCloud.dev"))
        list.set(
            AdminContext(
                name: "live", target: .database(url: "live-url"), container: "iCloud.live", environment: .production))
        list.set(AdminContext(name: "far", target: .server(url: "wss://far", credential: "c")))
        return list
    }()

    private func target(
        _ options: [String], _ variables: [String: String] = [:], selected: String? = nil
    ) throws -> AdminTarget {
        var list = Self.contexts
        if let selected { _ = list.select(selected) }
        return try AdminTarget(try AdminOptions.parse(options), variables: variables) { () throws(AdminFailure) in list
        }
    }

    private func words(_ target: AdminTarget) throws -> String {
        "\(try target.databaseURL()) \(target.container ?? "-") \(target.environment.name)"
    }

    @Test(
        arguments: [
            ([], [:], "dev", "dev-url iCloud.dev development"), ([], [:], "live", "live-url iCloud.live production"),
            (["--context", "live"], [:], "dev", "live-url iCloud.live production"),
            ([], ["TIDEMARK_CONTEXT": "live"], "dev", "live-url iCloud.live production"),
            (["--context", "dev"], ["TIDEMARK_CONTEXT": "live"], nil, "dev-url iCloud.dev development"),
            (
                ["--context", "dev"], ["TIDEMARK_DATABASE_URL": "v", "TIDEMARK_CONTAINER": "c"], nil,
                "dev-url iCloud.dev development"
            ),
            (["--container", "o"], [:], "live", "live-url o production"),
            (["--environment", "development"], [:], "live", "live-url iCloud.live development"),
            ([], ["TIDEMARK_CONTAINER": "v", "TIDEMARK_ENVIRONMENT": "development"], "live", "live-url v development"),
            (["--database-url", "o"], ["TIDEMARK_DATABASE_URL": "v"], nil, "o - development"),
            ([], ["TIDEMARK_DATABASE_URL": "v", "TIDEMARK_CONTEXT": ""], nil, "v - development"),
        ] as [([String], [String: String], String?, String)])
    func `R-836: an option wins over a variable, and both over the context`(
        _ options: [String], _ variables: [String: String], _ selected: String?, _ expected: String
    ) throws {
        #expect(try words(target(options, variables, selected: selected)) == expected)
    }

    @Test func `R-836: another database has nothing of the selected context`() throws {
        #expect(try words(target([], ["TIDEMARK_DATABASE_URL": "v"], selected: "live")) == "v - development")
        #expect(try words(target(["--database-url", "o"], selected: "live")) == "o - development")
    }

    @Test(
        arguments: [
            ([], [:], ExitStatus.usage, "tidemark admin context add"),
            (["--context", "none"], [:], .refused, "no context none"),
            (["--context", "dev"], ["TIDEMARK_ENVIRONMENT": "test"], .usage, "TIDEMARK_ENVIRONMENT"),
            (["--context", "far"], [:], .refused, "is the server wss://far"),
        ] as [([String], [String: String], ExitStatus, String)])
    func `R-836: what names no database is refused, with what to do`(
        _ options: [String], _ variables: [String: String], _ status: ExitStatus, _ text: String
    ) {
        let failure = #expect(throws: AdminFailure.self) { try words(target(options, variables)) }
        #expect(failure?.status == status)
        #expect(failure?.description.contains(text) == true, "\(failure?.description ?? "")")
    }
}
