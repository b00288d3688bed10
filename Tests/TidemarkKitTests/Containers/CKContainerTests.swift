// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

@Suite struct CKContainerTests {
    @Test func `R-002: server, account and default container come from the environment`() {
        let full = TidemarkConfiguration(environmentVariables: [
            "TIDEMARK_URL": "wss://sync.example.org:8443", "TIDEMARK_TOKEN": "secret", "TIDEMARK_CA": "/ca.pem",
            "TIDEMARK_CONTAINER": "iCloud.org.example.notes", "TIDEMARK_ENVIRONMENT": "production",
        ])
        #expect(full.url?.absoluteString == "wss://sync.example.org:8443" && full.token == "secret")
        #expect(full.certificateAuthorityFile == "/ca.pem" && full.environment == .production)
        #expect(full.defaultContainerIdentifier == "iCloud.org.example.notes")
        let empty = TidemarkConfiguration(environmentVariables: ["TIDEMARK_TOKEN": "", "TIDEMARK_ENVIRONMENT": "else"])
        #expect(empty.url == nil && empty.token == nil && empty.environment == .development)
        #expect(empty.defaultContainerIdentifier == "iCloud.dev.tidemark")
    }

    @Test func `R-002: the default container is the one of the configuration, and any other is made by its name`()
        async
    {
        await #expect(processExitsWith: .success) {
            var configuration = TidemarkConfiguration(url: nil)
            configuration.defaultContainerIdentifier = "iCloud.org.example.default"
            TidemarkConfiguration.current = configuration
            let container = CKContainer.default()
            precondition(container.containerIdentifier == "iCloud.org.example.default")
            precondition(container === CKContainer.default())
            precondition(CKContainer(identifier: "iCloud.Other").containerIdentifier == "iCloud.Other")
        }
    }
}
