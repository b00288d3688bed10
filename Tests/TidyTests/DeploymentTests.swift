// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the files of deploy/ promise to who starts a server by them.
@Suite struct DeploymentTests {
    @Test func `compose: what serves comes back after a restart, and a password may hold any character`() throws {
        let compose = try SourceFile.text(at: "deploy/compose.yaml")
        let services = compose.matches(of: /(?m)^  (postgres|tidemark):\n(?:    .*\n)+/)
        #expect(services.map { String($0.1) } == ["postgres", "tidemark"])
        for service in services { #expect(service.0.contains("    restart: always\n"), "\(service.1)") }
        for line in compose.split(separator: "\n") where line.contains("TIDEMARK_PASSWORD") && !line.hasPrefix("#") {
            #expect(line.contains(/^ +(POSTGRES_PASSWORD|PGPASSWORD): \$\{TIDEMARK_PASSWORD:\?/), "\(line)")
        }
    }

    @Test func `compose and the image: the server can do little, has a fixed user, and says whether it is well`() throws
    {
        let compose = try SourceFile.text(at: "deploy/compose.yaml")
        for line in ["read_only: true", "cap_drop: [ALL]", #"security_opt: ["no-new-privileges:true"]"#] {
            #expect(compose.contains("\n  \(line)\n"), "\(line)")
        }
        let services = compose.matches(of: /(?m)^  (postgres|migrate|tidemark):\n(?:    .*\n)+/)
        #expect(services.count == 3)
        for service in services {
            #expect(service.0.contains("<<: *confined\n") && service.0.contains("mem_limit: "), "\(service.1)")
        }
        let image = try SourceFile.text(at: "deploy/Dockerfile")
        let user = try #require(image.firstMatch(of: /(?m)^USER (\d+):\d+$/)).1
        #expect(image.contains("useradd --system --uid \(user) "))
        let server = try #require(services.last).0
        #expect(server.contains(#"user: "\#(user):\#(user)""#) && server.contains("TIDEMARK_ASSET_DIRECTORY: /assets"))
        #expect(server.contains("healthcheck:") && image.contains("COPY deploy/healthy "))
    }

    @Test func `R-958: the image has pg_dump for the server of compose, and a container writes backups`() throws {
        let compose = try SourceFile.text(at: "deploy/compose.yaml")
        let server = try #require(compose.firstMatch(of: /image: postgres:(\d+)/).flatMap { Int($0.1) })
        let client = try #require(
            try SourceFile.text(at: "deploy/Dockerfile").firstMatch(of: /postgresql-client-(\d+)/).flatMap { Int($0.1) }
        )
        // A newer one would not restore into it.
        #expect(client == server)
        let service = try #require(compose.firstMatch(of: /(?m)^  operate:\n(?:    .*\n)+/)).0
        #expect(service.contains("- ./backups:/backups\n") && service.contains("- assets:/assets\n"))
        #expect(service.contains("- keys:/keys:ro\n") && service.contains("<<: *confined\n"))
        // Not beside the server, but only for a command.
        #expect(service.contains("profiles: [operate]\n") && !service.contains("restart:"))
        let guide = try SourceFile.text(at: "deploy/README.md")
        for command in ["create", "verify", "restore"] {
            #expect(guide.contains("run --rm operate backup \(command) /backups/"), "\(command)")
        }
        for name in ["backup", "restore"] {
            let manifest = try SourceFile.text(at: "deploy/kubernetes/\(name).yaml")
            #expect(manifest.contains("tidemark admin backup ") && manifest.contains("claimName: tidemark-backups"))
            for line in ["runAsNonRoot: true", "readOnlyRootFilesystem: true", "automountServiceAccountToken: false"] {
                #expect(manifest.contains(line), "\(name): \(line)")
            }
        }
    }

    @Test func `R-714, compose: the text of queries that are stopped does not fill PostgreSQL's log`() throws {
        let setting = "log_min_error_statement=fatal"
        #expect(
            try SourceFile.text(at: "deploy/compose.yaml").contains(
                "    command: [\"postgres\", \"-c\", \"\(setting)\"]\n"))
        #expect(try SourceFile.text(at: "deploy/README.md").contains("`\(setting.replacing("=", with: " = "))`"))
    }

    @Test func `a server's private key does not get into the repository`() throws {
        #expect(try SourceFile.text(at: ".gitignore").contains("\ndeploy/certificates/\n"))
        #expect(try SourceFile.text(at: ".gitignore").contains("\ndeploy/backups/\n"))
    }

    @Test func `an image is not built from keys, history and what was built before`() throws {
        let ignored = try SourceFile.text(at: ".dockerignore").split(separator: "\n")
        for name in [".build*", ".tidemark", ".git", "deploy/certificates", "deploy/.env", "deploy/backups"] {
            #expect(ignored.contains { $0 == name }, "\(name)")
        }
    }

    @Test func `systemd: a migration may take long, and who the unit runs as is said`() throws {
        let unit = try SourceFile.text(at: "deploy/tidemark.service")
        #expect(unit.contains("\nTimeoutStartSec=infinity\n"))
        // `.ci/checks` measures the whole.
        for setting in [
            "UMask=0077", "MemoryMax=", "SystemCallFilter=@system-service", "RestrictAddressFamilies=",
            "NoNewPrivileges=yes",
        ] {
            #expect(unit.contains("\n\(setting)"), "\(setting)")
        }
        for setting in [
            "Type=notify", "WatchdogSec=30", "LoadCredential=master.key:", "LoadCredential=database-password:",
        ] {
            #expect(unit.contains("\n\(setting)"), "\(setting)")
        }
        // That program is in a package of its own, which a minimal Debian has not.
        #expect(!unit.contains("/bin/kill"))
        let user = try #require(unit.firstMatch(of: /(?m)^User=(\w+)$/)).1
        #expect(try SourceFile.text(at: "deploy/debian/tidemark.sysusers").contains("\nu \(user) "))
        #expect(try SourceFile.text(at: "deploy/README.md").contains("`\(user)`, made by systemd-sysusers"))
    }

    @Test func `R-947: the package starts nothing by itself, and deletes nothing`() throws {
        #expect(
            try SourceFile.text(at: "deploy/tidemark.service").contains(
                "\nConditionPathExists=/etc/tidemark/tidemark.env\n"))
        // What `systemctl enable` made, as the guide says. It has nothing of anybody.
        let link = "    rm -f /etc/systemd/system/multi-user.target.wants/tidemark.service"
        #expect(
            try SourceFile.text(at: "deploy/debian/postrm").contains("\nif [ \"$1\" = purge ]; then\n\(link)\nfi\n"))
        for script in ["postinst", "prerm", "postrm"] {
            // What it does, without what it prints and says.
            let lines = try SourceFile.text(at: "deploy/debian/\(script)").split(separator: "\n")
                .filter { !$0.contains("echo ") && !$0.contains(/^ *#/) && $0 != link }
            for line in lines {
                #expect(!line.contains(/\b(rm|dropdb|deluser|userdel|enable|start)\b/), "\(script): \(line)")
            }
            #expect(lines.contains("set -e"), "\(script)")
        }
        // What the unit and the guide name is in the package.
        let package = try SourceFile.text(at: "deploy/package")
        for place in [
            "usr/bin/tidemark", "lib/systemd/system/tidemark.service", "usr/lib/sysusers.d/tidemark.conf",
            "usr/libexec/tidemark/certbot-hook", "share/tidemark/migrations", "share/tidemark/tidemark.yaml",
        ] { #expect(package.contains(place), "\(place)") }
        #expect(try SourceFile.text(at: "deploy/tidemark.service").contains("ExecStart=/usr/bin/tidemark serve\n"))
        #expect(try SourceFile.text(at: "deploy/README.md").contains("/usr/libexec/tidemark/certbot-hook"))
    }

    @Test func `R-949: pods can do little, say whether they are ready, and do not all go at once`() throws {
        let manifest = try SourceFile.text(at: "deploy/kubernetes/tidemark.yaml")
        for line in [
            "pod-security.kubernetes.io/enforce: restricted", "automountServiceAccountToken: false",
            "runAsNonRoot: true",
            "allowPrivilegeEscalation: false", "readOnlyRootFilesystem: true", "capabilities: { drop: [ALL] }",
            "kind: PodDisruptionBudget", "kind: NetworkPolicy", "readinessProbe:", "livenessProbe:", "startupProbe:",
            "path: /readyz",
        ] { #expect(manifest.contains(line), "\(line)") }
        // The user of the image.
        let user = try #require(try SourceFile.text(at: "deploy/Dockerfile").firstMatch(of: /(?m)^USER (\d+):\d+$/)).1
        #expect(manifest.contains("runAsUser: \(user)\n"))
        // Secrets are examples, and a filled copy does not get into the repository.
        #expect(!manifest.contains("kind: Secret\n"))
        #expect(try SourceFile.text(at: ".gitignore").contains("\ndeploy/kubernetes/secret.yaml\n"))
        // A pod has longer than it needs to drain and to answer.
        let drain = try #require(manifest.firstMatch(of: /DRAIN_SECONDS: "(\d+)"/).flatMap { Int($0.1) })
        let grace = try #require(manifest.firstMatch(of: /GracePeriodSeconds: (\d+)/).flatMap { Int($0.1) })
        #expect(grace >= drain + 20)
    }
}
