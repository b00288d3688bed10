// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkTelemetry

struct Setup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a server's database, first container, operator and settings, and say what comes next.",
        discussion: """
            On a terminal it asks for what is not given. What is there is left alone, so run it again after a failure. As root \
            it uses PostgreSQL of this machine over its socket. It makes DIRECTORY/tidemark.env, which tidemark.service reads, \
            master.key and database-password. Back up master.key, apart from the database.

            EXAMPLES:
              tidemark setup
              tidemark setup --container iCloud.org.example.notes --operator olga
              tidemark setup --superuser-url postgresql://postgres@db.example --container iCloud.org.example.notes
            """)

    @Option(
        name: .customLong("superuser-url"),
        help: ArgumentHelp(
            "PostgreSQL's URL for a superuser.",
            discussion:
                "Default: over the socket in /var/run/postgresql, as root by the user postgres. With a URL the server's role "
                + "gets a password.", valueName: "url"))
    var superuserURL: String?

    @Option(help: ArgumentHelp("The server's database.", valueName: "name"))
    var database = "tidemark"

    @Option(help: ArgumentHelp("The server's role in PostgreSQL.", valueName: "name"))
    var role = "tidemark"

    @Option(help: ArgumentHelp("The first app's container, such as iCloud.org.example.notes.", valueName: "identifier"))
    var container: String?

    @Option(help: ArgumentHelp("The name of the first operator, an owner.", valueName: "name"))
    var `operator`: String?

    @Option(
        help: ArgumentHelp(
            "Where devices connect.", discussion: "Default: 0.0.0.0:8443, and 127.0.0.1:8443 without a certificate.",
            valueName: "host:port"))
    var listen: String?

    @Option(help: ArgumentHelp("PEM file that the server's user can read.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("PEM file with its private key.", valueName: "file"))
    var privateKey: String?

    @Option(help: ArgumentHelp("Where settings and secrets are kept.", valueName: "directory"))
    var directory = "/etc/tidemark"

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together. Give both.")
        }
        for (name, flag) in [(database, "--database"), (role, "--role")] {
            guard name.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil else {
                throw ValidationError("\(flag) takes a name of lower-case letters, digits and _, not \(name).")
            }
        }
    }

    func run() throws {
        ServingLoop.listenForSignals()
        Log.writeToStandardError(level: .warning)
        if let superuserURL, PostgresURL.hasPassword(superuserURL) { printError(AdminTarget.passwordWarning) }
        let settings = SetupSettings(
            superuserURL: superuserURL, database: database, role: role, directory: directory,
            listen: listen ?? (certificate == nil ? "127.0.0.1:8443" : "0.0.0.0:8443"),
            certificate: certificate.flatMap { file in privateKey.map { (file, $0) } })
        // Before anything is made: they are refused for what they are.
        _ = try settings.environment()
        _ = try ConnectionOptions.address(settings.listen, "--listen")
        let files = SetupFiles(settings: settings)
        let isFirst = !files.exists(settings.environmentFile)
        let names = try askNames(isFirst: isFirst)
        var report = SetupReport()
        try files.makeDirectory()
        report.note("the master key \(settings.masterKeyFile)", isNew: try files.makeMasterKey())
        let made = try makeDatabase(settings, files, names, &report)
        // Before anything else can fail: nobody can see it later.
        if let credential = made.credential, let name = names.operator {
            print("The credential of the operator \(name), shown this once:\n\(credential)\n")
        }
        if isFirst { try files.writeEnvironment() }
        report.note("the settings \(settings.environmentFile)", isNew: isFirst)
        print(report.text, terminator: "")
        if report.isChange { print(next(settings)) }
    }

    private func makeDatabase(
        _ settings: SetupSettings, _ files: SetupFiles, _ names: (container: String?, operator: String?),
        _ report: inout SetupReport
    ) throws -> SetupDatabase.Made {
        let server = SetupDatabase(settings: settings)
        // A role gets its password when it is made. So the file is there before it: a run that is cut off goes on with it.
        let isNewPassword = !files.exists(settings.passwordFile)
        if isNewPassword { try files.write(password: superuserURL == nil ? nil : SetupFiles.newPassword()) }
        let password = try DatabaseOption.password(in: settings.passwordFile)
        let (isNewRole, isNewDatabase, made) = try server.asSuperuser {
            let isNewRole = try server.makeRole(password: password)
            let isNewDatabase = try server.makeDatabase()
            return (isNewRole, isNewDatabase, try server.fill(container: names.container, operator: names.operator))
        }
        report.note("the role \(role)", isNew: isNewRole)
        report.note("the database \(database)", isNew: isNewDatabase)
        report.note("its tables", isNew: !made.steps.isEmpty)
        for (key, isNew) in made.containers {
            report.note("the container \(key.identifier) in \(key.environment.name)", isNew: isNew)
        }
        if let name = names.operator { report.note("the operator \(name)", isNew: made.credential != nil) }
        report.note("the password file \(settings.passwordFile)", isNew: isNewPassword)
        if isNewPassword, !isNewRole, password != nil {
            report.warn("The role \(role) was there before. Write its password into \(settings.passwordFile).")
        }
        return made
    }

    /// - Parameter isFirst: whether somebody is asked, and an operator is made whose name nobody chose.
    private func askNames(isFirst: Bool) throws -> (container: String?, operator: String?) {
        var (container, name) = (self.container, self.operator)
        if isFirst {
            let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
            if container == nil, canAsk {
                container = ask("The first app's container, such as iCloud.org.example.notes (empty: none): ")
            }
            if name == nil { name = (canAsk ? ask("The first operator's name (empty: admin): ") : nil) ?? "admin" }
        }
        for text in [container, name].compactMap({ $0 }) {
            guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw AdminFailure(
                    .usage,
                    "A container's identifier and an operator's name are 1 to 255 printable ASCII characters without "
                        + "spaces.")
            }
        }
        return (container, name)
    }

    private func ask(_ question: String) -> String? {
        ProcessTerminal.writeError(question)
        let answer = (readLine() ?? "").trimmingCharacters(in: .whitespaces)
        return answer.isEmpty ? nil : answer
    }

    private func next(_ settings: SetupSettings) -> String {
        let url = (try? settings.serverURL()) ?? ""
        let prefix = superuserURL == nil ? "runuser -u tidemark -- " : ""
        let certificate =
            settings.certificate == nil
            ? "\nThe server has no certificate yet, so it serves this machine alone. See README.md on certificates."
            : ""
        return """

            Back up \(settings.masterKeyFile), apart from the database.\(certificate)
            Next:
              systemctl enable --now tidemark
              export TIDEMARK_DATABASE_URL="\(url)"
              \(prefix)tidemark admin accounts create alice
              \(prefix)tidemark admin credentials create alice
            """
    }
}
