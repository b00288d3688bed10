// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct FailureReasonTests {
    @Test func `Every reason has a text of its own that says what to do`() {
        let texts = FailureReason.allCases.map(\.text)
        #expect(Set(texts).count == texts.count)
        for text in texts { #expect(text.hasSuffix(".") && text.count > 40, "\(text)") }
    }

    @Test func `R-155: the reasons that are limits tell the number that is in force, and how many there are`() {
        var limits = Limits()
        limits.recordBytesMax = 1_001
        limits.assetBytesMax = 1_002
        limits.itemsMax = 1_003
        limits.requestBytesMax = 1_004
        limits.referencesMax = 1_005
        limits.cascadeReferencesMax = 1_006
        limits.zonesMax = 1_007
        limits.subscriptionsMax = 1_008
        limits.schemaEntriesMax = 1_009
        limits.zoneKeysMax = 1_010
        limits.querySecondsMax = 1_011
        limits.storedBytesMax = 1_012
        limits.targetsMax = 1_013
        limits.participantsMax = 1_014
        limits.sharedZonesMax = 1_015
        limits.sharedZoneKeysMax = 1_016
        limits.sharingRowsMax = 1_017
        limits.blockedMax = 1_018
        limits.accountZonesMax = 1_019
        limits.shareSubtreeMax = 1_020
        limits.hierarchiesMax = 1_021
        limits.zonePartsMax = 1_022
        let reasons: [FailureReason] = [
            .recordTooLarge, .assetTooLarge, .tooManyItems, .requestTooLarge, .tooManyReferences, .cascadeTooLarge,
            .tooManyZones, .tooManySubscriptions, .schemaFull, .tooManyZoneKeys, .queryTooSlow, .tooMuchStored,
            .tooManyTargets, .tooManyParticipants, .tooManySharedZones, .tooManySharedZoneKeys, .tooMuchShared,
            .tooManyBlocked, .tooManyAccountZones, .hierarchyTooLarge, .tooManyHierarchies, .tooManyParts,
        ]
        for (index, reason) in reasons.enumerated() {
            let text = reason.text(within: limits)
            #expect(text.hasPrefix(reason.text + " The limit is \(1_001 + index) ") && text.hasSuffix("."), "\(text)")
            #expect(reason.text(within: limits, count: 7_654).hasSuffix(", and this has 7654."))
        }
        for reason in FailureReason.allCases where !reasons.contains(reason) {
            #expect(reason.text(within: limits, count: 1) == reason.text)
        }
    }

    @Test func `R-092, R-094, R-095, R-151, R-220: texts that people search for`() {
        let rows: [(FailureReason, String)] = [
            (.recordExists, "record to insert already exists"),
            (.recordChanged, "client oplock error updating record"),
            (.recordMissing, "recordChangeTag specified, but record not found"),
            (.batchFailed, "Atomic failure"),
            (.tokenExpired, "client knowledge differs from server knowledge"),
        ]
        for (reason, words) in rows { #expect(reason.text.hasPrefix(words)) }
    }
}
