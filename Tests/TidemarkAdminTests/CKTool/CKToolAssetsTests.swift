// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct CKToolAssetsTests {
    @Test func `R-895: files have keys and paths`() throws {
        let assets = try CKToolAssets(["A=~/a.jpg", "B_1=/tmp/b=c.jpg"])
        #expect(assets.paths == ["A": "~/a.jpg", "B_1": "/tmp/b=c.jpg"])
        #expect(try CKToolAssets([]).paths.isEmpty)
        for arguments in [["A"], ["=a"], ["A="], ["A=a", "A=b"]] {
            #expect(throws: AdminFailure.self) { try CKToolAssets(arguments) }
        }
    }

    @Test func `R-895: assets need the directory of the servers`() {
        #expect(throws: AdminFailure.self) { try CKToolAssets.store(variables: [:]) }
        #expect(throws: AdminFailure.self) { try CKToolAssets.store(variables: ["TIDEMARK_ASSET_DIRECTORY": ""]) }
    }
}
