// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How many items, and how many bytes of fields, one request may have.
package enum ItemCount {
    static func check(_ count: Int, _ limits: Limits) throws(Refusal) { try check(count, atMost: limits.itemsMax) }

    package static func check(_ count: Int, atMost countMax: Int) throws(Refusal) {
        guard count > countMax else { return }
        throw Refusal(
            .tooManyItems,
            "Your request contains \(count) items which is more than the maximum number of items in a single request"
                + " (\(countMax))")
    }

    static func checkBytes(_ count: Int, _ limits: Limits) throws(Refusal) {
        guard count > limits.requestBytesMax else { return }
        throw Refusal(
            .requestTooLarge,
            "Your request contains \(count) bytes of fields which is more than the maximum in a single request"
                + " (\(limits.requestBytesMax)). Split it in half.")
    }
}
