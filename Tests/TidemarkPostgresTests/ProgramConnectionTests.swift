// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkPostgres

@Suite struct ProgramConnectionTests {
    @Test func `R-950: a program's arguments have no secret and no place, only the database's name`() throws {
        let connection = try #require(
            ProgramConnection(
                url: "postgresql://bob:se%20cret@db.example:5433/notes?sslmode=require&options=-c%20work_mem%3D8MB"))
        #expect(connection.name == "dbname=notes")
        #expect(
            connection.environment == [
                "PGHOST": "db.example", "PGPORT": "5433", "PGUSER": "bob", "PGPASSWORD": "se cret",
                "PGSSLMODE": "require", "PGOPTIONS": "-c work_mem=8MB",
            ])
    }

    @Test(arguments: [
        ("postgresql:///it%27s%20%5Cmine", #"dbname='it\'s \\mine'"#), ("postgresql:///", ""),
        ("dbname=a host=b", "dbname=a"),
        ("dbname=a keepalives_idle=7", "keepalives_idle=7 dbname=a"),
    ])
    func `R-950: what has no variable is an argument, in libpq's form`(_ url: String, _ name: String) throws {
        let words = try #require(ProgramConnection(url: url)).name
        #expect(Set(words.split(separator: " ")) == Set(name.split(separator: " ")))
    }

    @Test func `R-950: what cannot be handed to a program is refused`() {
        #expect(ProgramConnection(url: "postgresql:///a?sslpassword=b") == nil)
        #expect(ProgramConnection(url: "postgresql:///a?nonsense=b") == nil)
    }
}
