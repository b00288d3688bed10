// SPDX-License-Identifier: Apache-2.0

/// A command of `tidemark admin` with the lines that the golden test runs.
struct GoldenCommand: Sendable {
    /// Noun and verb.
    let path: String
    /// What follows them, in the order of the runs. A word that begins with `@` is a file of the run.
    let lines: [String]
    /// Whether the lines change the store. They run after all that only look.
    let changes: Bool
    var mask = GoldenNormalizer.Mask.usual
    /// Why a server says something else than the database; nil: it says the same.
    var difference: String?

    /// A command that only looks: each line is run with a table and with JSON.
    ///
    /// - Parameters:
    ///   - forms: in which the first line is run as well.
    ///   - refused: lines that are run as they are, because they say the same in each form.
    init(
        looking path: String, _ lines: String..., forms: [String] = [], refused: [String] = [],
        mask: GoldenNormalizer.Mask = .usual, difference: String? = nil
    ) {
        self.path = path
        let more = forms.map { Self.line(lines.first ?? "", "-o \($0)") }
        self.lines = lines.flatMap { [$0, Self.line($0, "-o json")] } + more + refused
        changes = false
        self.mask = mask
        self.difference = difference
    }

    /// A command that changes the store: the lines say themselves in which form they are run.
    init(changing path: String, _ lines: String..., difference: String? = nil) {
        self.path = path
        self.lines = lines
        changes = true
        self.difference = difference
    }

    /// In the folder of the golden files.
    var fileName: String { path.replacing(" ", with: "-") + ".txt" }

    private static func line(_ words: String...) -> String {
        words.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension GoldenCommand {
    /// Every command of `tidemark admin`, in the order of the runs.
    static let all = looking + changing

    private static let localFiles = "it needs files of the servers' machine, or starts programs there"

    /// The audit comes first: some of these commands are written to it.
    private static let looking: [GoldenCommand] = [
        GoldenCommand(
            looking: "audit list", "", "--failures", "--kind sign-ins --who alice",
            "--request 8A010203-0405-8607-8000-000000000011", forms: ["wide", "name"]),
        GoldenCommand(looking: "accounts list", "", forms: ["wide", "name", "yaml"]),
        GoldenCommand(looking: "accounts show", "alice", "carol", forms: ["yaml"], refused: ["nobody"]),
        GoldenCommand(looking: "accounts export", "alice", refused: ["nobody"]),
        GoldenCommand(looking: "addresses list", "bob"),
        GoldenCommand(looking: "identities list", "alice", refused: ["nobody"]),
        GoldenCommand(looking: "connections list", "", "alice", forms: ["name"], refused: ["nobody"]),
        GoldenCommand(
            looking: "config check", "@settings.yaml", refused: ["@bad-settings.yaml", "@none.yaml"]),
        GoldenCommand(
            looking: "config show", "--config @settings.yaml",
            refused: [
                "--config @settings.yaml -o json -- --loops 3 --plain", "-- --loop 3",
                "--config @bad-settings.yaml -o name",
            ]),
        GoldenCommand(looking: "console", ""),
        GoldenCommand(looking: "containers list", "", forms: ["name"]),
        GoldenCommand(
            looking: "containers show", GoldenStore.container, "\(GoldenStore.container) --environment production",
            refused: ["iCloud.org.example.none"]),
        GoldenCommand(looking: "context list", ""),
        GoldenCommand(looking: "context show", "home", "work", refused: ["none"]),
        GoldenCommand(looking: "credentials list", "alice", forms: ["name"]),
        GoldenCommand(looking: "databases list", ""),
        GoldenCommand(
            looking: "debug bundle", "--file @bundle.tar.gz", mask: .numbers, difference: localFiles),
        GoldenCommand(looking: "devices list", "alice", forms: ["name"]),
        GoldenCommand(
            looking: "doctor", "--deep", "--ci", forms: ["name"], refused: ["--master-key-file @master.key"],
            difference: localFiles),
        GoldenCommand(
            looking: "explain", "bob shopping --database alice --zone Notes",
            "bob cloudkit.zoneshare --database alice --zone Notes", "alice BIKF", "bob BIKF",
            "bob EDDF --type Airport", refused: ["bob EDDF", "nobody BIKF"]),
        GoldenCommand(looking: "indexes list", "", mask: .numbers),
        GoldenCommand(
            looking: "limits show", "", "--account alice", difference: "it shows its own limits, and not the defaults"),
        GoldenCommand(looking: "operators list", ""),
        GoldenCommand(looking: "operators credentials", "olga", refused: ["nobody"]),
        GoldenCommand(looking: "records get", "alice Notes shopping trip", refused: ["alice Notes none"]),
        GoldenCommand(
            looking: "records list", "alice Notes", "public _defaultZone --type Airport --limit 2",
            forms: ["wide", "name", "yaml"], refused: ["alice Nowhere"]),
        GoldenCommand(
            looking: "records query", "alice Note --zone Notes --where pinned>0", "public Airport --sort name",
            "public Airport --count", forms: ["yaml"], refused: ["public Airport --where elevation=="]),
        GoldenCommand(
            looking: "records export", "alice Notes",
            "public _defaultZone --type Airport --format csv --field name --field elevation"),
        GoldenCommand(looking: "records history", "alice Notes", "alice Notes shopping"),
        GoldenCommand(looking: "roles list", ""),
        GoldenCommand(looking: "schema export", ""),
        GoldenCommand(looking: "schema validate", "@new.ckdb", refused: ["@bad.ckdb", "@none.ckdb"]),
        GoldenCommand(looking: "schema diff", "", "@new.ckdb"),
        GoldenCommand(looking: "shares list", "alice"),
        GoldenCommand(looking: "shares show", "alice Notes", forms: ["wide", "name"], refused: ["alice Drafts"]),
        GoldenCommand(looking: "stats accounts", ""),
        GoldenCommand(looking: "stats containers", "", forms: ["wide"]),
        GoldenCommand(looking: "stats indexes", "", mask: .numbers),
        GoldenCommand(looking: "stats tables", "", mask: .numbers),
        GoldenCommand(looking: "store verify", "", "--ci", forms: ["name"], refused: ["--deep"]),
        GoldenCommand(looking: "subscriptions list", "alice", refused: ["carol"]),
        GoldenCommand(
            looking: "tail", "alice --zone Notes --after \(GoldenStore.notesZone).0 --once",
            "alice --zone Notes --after \(GoldenStore.notesZone).0 --limit 1",
            "alice --zone Notes --after \(GoldenStore.notesZone).0 --once --request 8A010203-0405-8607-8000-000000000011",
            refused: ["alice --once --exec true"], difference: localFiles),
        GoldenCommand(looking: "xray", "alice", "bob", refused: ["nobody"]),
        GoldenCommand(
            looking: "zones list", "alice", forms: ["name"], refused: ["carol", "alice --environment production"]),
        GoldenCommand(looking: "zones show", "alice Notes", refused: ["alice Nowhere"]),
    ]

    /// A later line may stand on what an earlier one has made.
    private static let changing: [GoldenCommand] = [
        GoldenCommand(
            changing: "accounts create", "dora --dry-run", "dora", "erik -o json", "alice", "alice --dry-run"),
        GoldenCommand(changing: "accounts disable", "bob --dry-run", "bob", "bob -o json", "bob --dry-run"),
        GoldenCommand(changing: "accounts enable", "bob --dry-run", "bob", "bob -o json"),
        GoldenCommand(
            changing: "accounts set-name", "bob --given Bob --family Brown --dry-run", "bob --given Bob --family Brown",
            "bob --clear -o json", "nobody --clear"),
        GoldenCommand(
            changing: "accounts set-encryption", "dora end-to-end --dry-run", "dora escrowed --reset --dry-run",
            "dora end-to-end", "dora escrowed --reset",
            "dora escrowed --reset --yes -o json"),
        GoldenCommand(
            changing: "accounts set-limit", "alice --requests-per-second 20 --dry-run",
            "alice --requests-per-second 20",
            "alice --requests-per-second none -o json", "alice --requests-per-second default",
            "nobody --requests-per-second 1", "--requests-per-second 30 --dry-run", "--requests-per-second 30",
            "--requests-per-second default -o json", "alice --connections 5 --dry-run", "alice --connections 5",
            "alice --connections default --requests-per-second 20", "alice --requests-per-second default",
            "--connections 9", "--connections default -o json", "nobody --connections 1"),
        GoldenCommand(
            changing: "accounts set-quota", "alice --megabytes 100 --dry-run", "alice --megabytes 100",
            "alice --megabytes none -o json"),
        GoldenCommand(
            changing: "accounts import", "dora @archive.jsonl --dry-run", "dora @archive.jsonl",
            "dora @archive.jsonl -o json", "dora @airports.csv", "dora @airports.csv --dry-run"),
        GoldenCommand(
            changing: "accounts delete", "carol", "carol --dry-run", "carol --yes",
            "carol --yes -o json"),
        GoldenCommand(
            changing: "addresses create", "alice alice@example.org --dry-run", "alice alice@example.org",
            "alice bob@example.org -o json", "alice bob@example.org --dry-run"),
        GoldenCommand(
            changing: "identities create", "alice --issuer https://login.example.org --subject 42 --dry-run",
            "alice --issuer https://login.example.org --subject 42",
            "alice --issuer https://login.example.org --subject 42 -o json",
            "bob --issuer https://login.example.org --subject 42",
            "bob --issuer https://login.example.org --subject 42 --dry-run"),
        GoldenCommand(
            changing: "identities delete", "alice --issuer https://login.example.org --subject 42 --dry-run",
            "alice --issuer https://login.example.org --subject 42",
            "alice --issuer https://login.example.org --subject 42 -o json",
            "alice --issuer https://login.example.org --subject 42 --dry-run"),
        GoldenCommand(
            changing: "addresses delete", "alice alice@example.org --dry-run", "alice alice@example.org",
            "alice alice@example.org -o json", "alice alice@example.org --dry-run"),
        GoldenCommand(
            changing: "assets collect", "--asset-directory @assets --dry-run",
            "--asset-directory @assets --yes -o json", difference: localFiles),
        GoldenCommand(
            changing: "backup create", "@backup --asset-directory @assets --dry-run",
            "@backup --asset-directory @assets", "@backup --asset-directory @assets -o json",
            "@backup --asset-directory @assets --dry-run", "@backup-2 --previous @none", difference: localFiles),
        GoldenCommand(changing: "backup verify", "@backup", "@backup -o json", "@none"),
        GoldenCommand(
            changing: "backup restore", "@backup --asset-directory @other", "@backup --asset-directory @other -o json",
            "@none", difference: localFiles),
        GoldenCommand(
            changing: "compact", "--older-than 12h", "--older-than 12h --dry-run", "--older-than 12h --yes -o json"),
        GoldenCommand(
            changing: "connections close", "alice", "alice \(GoldenStore.phone) --dry-run", "nobody -o json",
            "bob \(GoldenStore.phone)", "bob \(GoldenStore.phone) --dry-run"),
        GoldenCommand(
            changing: "containers create", "iCloud.org.example.new --dry-run", "iCloud.org.example.new",
            "iCloud.org.example.new --environment production -o json", "iCloud.org.example.new",
            "iCloud.org.example.new --dry-run"),
        GoldenCommand(
            changing: "containers delete", "iCloud.org.example.new --environment production",
            "iCloud.org.example.new --environment production --dry-run",
            "iCloud.org.example.new --environment production --yes",
            "iCloud.org.example.new --environment production --yes -o json"),
        GoldenCommand(
            changing: "containers set-feeds", "iCloud.org.example.new everywhere --dry-run",
            "iCloud.org.example.new everywhere",
            "iCloud.org.example.new custom-zones -o json", "iCloud.org.example.none everywhere",
            "iCloud.org.example.none everywhere --dry-run"),
        GoldenCommand(
            changing: "containers set-limit", "iCloud.org.example.new --references 9",
            "iCloud.org.example.new --references 0 -o json",
            "iCloud.org.example.new --requests-per-second 20 --dry-run",
            "iCloud.org.example.new --requests-per-second 20 --request-burst 30 --references 9",
            "iCloud.org.example.none --requests-per-second default",
            "iCloud.org.example.none --references 9 --dry-run"),
        GoldenCommand(
            changing: "containers set-quota", "iCloud.org.example.new --private-megabytes 10 --dry-run",
            "iCloud.org.example.new --private-megabytes 10",
            "iCloud.org.example.new --public-megabytes none -o json",
            "iCloud.org.example.new --public-share-megabytes 2 --dry-run",
            "iCloud.org.example.new --public-megabytes 50 --public-share-megabytes default"),
        GoldenCommand(
            changing: "context add", "third --database-url postgresql:///third --dry-run",
            "third --database-url postgresql:///third", "third --database-url postgresql:///third -o json",
            "third --database-url postgresql:///third --dry-run"),
        GoldenCommand(changing: "context select", "third --dry-run", "third", "none -o json"),
        GoldenCommand(changing: "context remove", "third --dry-run", "third", "third -o json"),
        GoldenCommand(
            changing: "credentials create", "dora --dry-run", "dora --label laptop", "dora -o json", "dora -o name",
            "nobody"),
        GoldenCommand(changing: "credentials revoke", "2 --dry-run", "2", "2 -o json", "2 --dry-run"),
        GoldenCommand(
            changing: "devices revoke", "alice \(GoldenStore.phone) --dry-run", "alice \(GoldenStore.phone)",
            "alice \(GoldenStore.phone) -o json", "alice \(GoldenStore.phone) --dry-run"),
        GoldenCommand(
            changing: "devices delete", "alice \(GoldenStore.phone) --dry-run", "alice \(GoldenStore.phone)",
            "alice \(GoldenStore.phone) -o json", "alice \(GoldenStore.phone) --dry-run"),
        GoldenCommand(
            changing: "import", "public @more.csv --mapping @airports.map --account alice --dry-run",
            "public @more.csv --mapping @airports.map --account alice",
            "public @more.csv --mapping @airports.map --account alice -o json",
            "public @more.csv --mapping @airports.map"),
        GoldenCommand(changing: "indexes build", "--dry-run", "-o json"),
        GoldenCommand(
            changing: "keys rotate-master", "--old @master.key --new @other.key --dry-run",
            "--old @none.key --new @other.key", "--old @master.key --new @other.key",
            "--old @master.key --new @other.key -o json", "--old @master.key --new @other.key --dry-run",
            difference: localFiles),
        GoldenCommand(
            changing: "operators create", "nina --role editor --dry-run", "nina --role editor", "nina -o json",
            "nina --dry-run"),
        GoldenCommand(
            changing: "operators set-role", "nina viewer --dry-run", "nina viewer", "nobody viewer -o json",
            "nobody viewer --dry-run"),
        GoldenCommand(changing: "operators issue", "nina --dry-run", "nina --label laptop", "nina -o json"),
        GoldenCommand(changing: "operators revoke", "2 --dry-run", "2", "2 -o json", "2 --dry-run"),
        GoldenCommand(changing: "operators delete", "nina --dry-run", "nina", "nina --yes", "nina --yes -o json"),
        GoldenCommand(
            changing: "records save", "alice Notes @saved.jsonl --dry-run", "alice Notes @saved.jsonl",
            "alice Notes @saved.jsonl --replace --yes -o json", "alice Notes @airports.csv",
            "alice Notes @airports.csv --dry-run"),
        GoldenCommand(
            changing: "records delete", "alice Notes trip --dry-run", "alice Notes trip", "alice Notes trip --yes",
            "alice Notes trip --yes -o json"),
        GoldenCommand(
            changing: "roles assign", "bob Editor --dry-run", "bob Editor", "bob Nothing -o json",
            "bob Nothing --dry-run"),
        GoldenCommand(changing: "roles revoke", "bob Editor --dry-run", "bob Editor", "bob Editor -o json"),
        GoldenCommand(changing: "schema import", "@new.ckdb --dry-run", "@new.ckdb -o json", "@new.ckdb", "@bad.ckdb"),
        GoldenCommand(changing: "schema promote", "--dry-run", "-o json", ""),
        GoldenCommand(
            changing: "shares revoke", "alice Notes --participant 00000000-0000-0000-0000-000000000001 --dry-run",
            "alice Notes --dry-run", "alice Notes", "alice Notes --yes",
            "alice Notes --yes -o json"),
        GoldenCommand(
            changing: "subscriptions delete", "alice all --dry-run", "alice all", "alice all --yes",
            "alice all --yes -o json", "alice all --dry-run"),
        GoldenCommand(
            changing: "zones delete", "alice Drafts", "alice Drafts --dry-run", "alice Drafts --yes",
            "alice Drafts --yes -o json"),
        GoldenCommand(
            changing: "zones purge", "alice Recipes --dry-run", "alice Recipes", "alice Recipes --yes",
            "alice Recipes --yes -o json"),
        GoldenCommand(
            changing: "zones reset-encrypted", "alice Journal --dry-run", "alice Journal", "alice Journal --yes",
            "alice Journal --yes -o json"),
        GoldenCommand(changing: "store mend", "--dry-run", "-o json"),
        GoldenCommand(changing: "store renew-incarnation", "", "--dry-run", "--yes -o json"),
    ]
}
