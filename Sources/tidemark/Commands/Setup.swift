// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkSockets
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
        guard superuserURL != nil || role == Self.localRole else {
            throw ValidationError(
                "Over its socket PostgreSQL takes the server's user for the role \(Self.localRole) alone. Leave --role away, or "
                    + "give --superuser-url.")
        }
    }

    /// The role that PostgreSQL takes the server's user for, over its socket.
    private static let localRole = "tidemark"

    func run() throws {
        ServingLoop.listenForSignals()
        Log.writeToStandardError(level: .warning, failureLevel: .error)
        if let superuserURL, PostgresURL.hasPassword(superuserURL) { printError(AdminTarget.passwordWarning) }
        let settings = SetupSettings(
            superuserURL: superuserURL, database: database, role: role, directory: directory,
            listen: listen ?? (certificate == nil ? "127.0.0.1:8443" : "0.0.0.0:8443"),
            certificate: certificate.flatMap { file in privateKey.map { (Self.absolute(file), Self.absolute($0)) } })
        // Before anything is made: they are refused for what they are.
        _ = try settings.environment()
        let address = try ConnectionOptions.address(settings.listen, "--listen")
        guard settings.certificate != nil || address.isLoopback else {
            throw AdminFailure(
                .usage,
                "Without a certificate the server serves this machine alone. Give --certificate and --private-key, or --listen "
                    + "127.0.0.1:8443.")
        }
        let files = SetupFiles(settings: settings)
        let isFirst = !files.exists(settings.environmentFile)
        let names = try askNames(isFirst: isFirst)
        var report = SetupReport()
        try files.makeDirectory()
        let masterKey = try files.makeMasterKey()
        report.note("the master key \(settings.masterKeyFile)", isNew: masterKey.isNew)
        let made: SetupDatabase.Made
        do {
            made = try makeDatabase(settings, files, names, masterKey.check, &report)
        } catch let error as SetupDatabase.OtherMasterKey {
            if masterKey.isNew { files.remove(settings.masterKeyFile) }
            throw error.failure
        }
        // Before anything else can fail: nobody can see it later.
        if let credential = made.credential, let name = names.operator {
            print("The credential of the operator \(name), shown this once:\n\(credential)\n")
        }
        if isFirst { try files.writeEnvironment() }
        report.note("the settings \(settings.environmentFile)", isNew: isFirst)
        if isFirst, let pair = settings.certificate {
            for file in [pair.file, pair.key] where !files.exists(file) {
                report.warn("There is no file \(file) yet. The server does not start without it.")
            }
        }
        let unused = [listen.map { _ in "--listen" }, certificate.map { _ in "--certificate" }].compactMap { $0 }
        if !isFirst, !unused.isEmpty {
            report.warn(
                "Not used: \(unused.joined(separator: " and ")). Edit \(settings.environmentFile), then run: systemctl restart "
                    + "tidemark")
        }
        print(report.text, terminator: "")
        if report.isChange { print(next(settings)) }
    }

    private func makeDatabase(
        _ settings: SetupSettings, _ files: SetupFiles, _ names: (container: String?, operator: String?),
        _ masterKeyCheck: [UInt8], _ report: inout SetupReport
    ) throws -> SetupDatabase.Made {
        let server = SetupDatabase(settings: settings)
        // A role gets its password when it is made. So the file is there before it: a run that is cut off goes on with it.
        let isThere = files.exists(settings.passwordFile)
        // Over the socket there is no password. A file of a run over it, which failed, must not make a role without one.
        let isEmpty = try isThere && superuserURL != nil && DatabaseOption.password(in: settings.passwordFile) == nil
        let isNewPassword = !isThere || isEmpty
        if isNewPassword { try files.write(password: superuserURL == nil ? nil : SetupFiles.newPassword()) }
        let password = try DatabaseOption.password(in: settings.passwordFile)
        var isNewRole = false
        let (isNewDatabase, made): (Bool, SetupDatabase.Made)
        do {
            (isNewDatabase, made) = try server.asSuperuser {
                isNewRole = try server.makeRole(password: password)
                let isNewDatabase = try server.makeDatabase()
                let made = try server.fill(
                    container: names.container, operator: names.operator, masterKeyCheck: masterKeyCheck)
                return (isNewDatabase, made)
            }
        } catch let error as SetupDatabase.OtherMasterKey {
            // The next run says once more that the role's password is another one.
            if isEmpty, !isNewRole { try files.write(password: nil) }
            if !isThere, !isNewRole { files.remove(settings.passwordFile) }
            throw error
        }
        // A role that was there may need no password.
        if isEmpty, !isNewRole { try files.write(password: nil) }
        report.note("the role \(role)", isNew: isNewRole)
        report.note("the database \(database)", isNew: isNewDatabase)
        report.note("its tables", isNew: !made.steps.isEmpty)
        for (key, isNew) in made.containers {
            report.note("the container \(key.identifier) in \(key.environment.name)", isNew: isNew)
        }
        if let name = names.operator { report.note("the operator \(name)", isNew: made.credential != nil) }
        report.note("the password file \(settings.passwordFile)", isNew: !isThere || isEmpty && isNewRole)
        if !isThere, !isNewRole, password != nil {
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

    /// The server has another working directory.
    private static func absolute(_ file: String) -> String {
        file.isEmpty || file.hasPrefix("/") ? file : "\(FileManager.default.currentDirectoryPath)/\(file)"
    }

    private func next(_ settings: SetupSettings) -> String {
        let url = (try? settings.serverURL()) ?? ""
        let password =
            superuserURL == nil ? "" : "\n  export PGPASSWORD=\"$(head -n 1 '\(settings.passwordFile)')\""
        let prefix = superuserURL == nil ? "runuser -u tidemark -- " : ""
        let certificate =
            settings.certificate == nil
            ? "\nThe server has no certificate yet, so it serves this machine alone. See README.md on certificates."
            : ""
        return """

            Back up \(settings.masterKeyFile), apart from the database.\(certificate)
            Next:
              systemctl enable --now tidemark
              export TIDEMARK_DATABASE_URL="\(url)"\(password)
              \(prefix)tidemark admin accounts create alice
              \(prefix)tidemark admin credentials create alice
            """
    }
}
