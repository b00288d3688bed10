// SPDX-License-Identifier: Apache-2.0

internal import Testing

@testable internal import TidemarkPostgres

@Suite struct ConnectionParametersTests {
    /// What libpq is given.
    private func parameters(_ url: String, _ settings: [(String, String)] = []) throws -> [String: String] {
        let parameters = try ConnectionParameters(url: url, settings: settings, applicationName: "ours")
        return parameters.withKeywordsAndValues { keywords, values in
            var found: [String: String] = [:]
            var index = 0
            while let keyword = keywords[index], let value = values[index] {
                found[String(cString: keyword)] = String(cString: value)
                index += 1
            }
            return found
        }
    }

    @Test func `what an operator says comes before our defaults`() throws {
        let theirs = try parameters("postgresql://db.example/store?connect_timeout=30&application_name=theirs")
        #expect(theirs["host"] == "db.example" && theirs["dbname"] == "store")
        #expect(theirs["connect_timeout"] == "30" && theirs["application_name"] == "theirs")
        let ours = try parameters("host=db.example")
        #expect(ours["connect_timeout"] == "5" && ours["application_name"] == "ours")
        #expect(ours["keepalives_idle"] == "10")
    }

    @Test func `settings on which correctness depends come after those of the operator`() throws {
        let found = try parameters(
            "host=h client_encoding=LATIN1 options='-c work_mem=1MB -c search_path=theirs'",
            [("search_path", "ours"), ("timezone", "a b\\c")])
        #expect(found["client_encoding"] == "UTF8")
        #expect(
            found["options"] == "-c work_mem=1MB -c search_path=theirs -c search_path=ours -c timezone=a\\ b\\\\c")
    }

    @Test func `strings of several bytes a character are passed on whole`() throws {
        let found = try parameters("host=größe user=ü dbname=世界", [("a", "é")])
        #expect(found["host"] == "größe" && found["user"] == "ü" && found["dbname"] == "世界")
        #expect(found["options"] == "-c a=é" && found["tcp_user_timeout"] == "10000")
    }

    @Test func `a URL that libpq does not understand is refused`() {
        let error = #expect(throws: PostgresError.self) { try parameters("postgresql://[") }
        #expect(error?.code == .invalidURL)
    }

    @Test(arguments: [
        ("postgresql://u:p@h/d", true), ("host=h password=p", true), ("postgresql://h/d?sslpassword=p", true),
        ("postgresql://u@h/d", false), ("host=h password=''", false), ("postgresql://[", false),
    ])
    func `a password in a URL is found`(_ url: String, _ hasPassword: Bool) {
        #expect(PostgresURL.hasPassword(url) == hasPassword)
    }
}
