// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// The progress that servers have kept of these devices.
    package func deviceProgress(
        of devices: [AccountDevice]
    ) async -> Result<[AccountDevice: NotedProgress], FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.deviceProgress(of: devices)) }
    }

    /// Keeps what this server knows of devices.
    ///
    /// - Parameter noted: when that was written which this server has read and takes over.
    /// - Returns: the devices whose progress is kept; nil: the store has failed. For the others, another server has written since, or the
    ///   store does not list them.
    package func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], over noted: [AccountDevice: Timestamp]
    ) async -> Set<AccountDevice>? {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let kept = await retry.run { () async throws(StorageError) -> Result<Set<AccountDevice>, FailureReason> in
            .success(try await storage.keepProgress(progress, over: noted, now: now))
        }
        if case .success(let devices) = kept { return devices }
        return nil
    }
}
