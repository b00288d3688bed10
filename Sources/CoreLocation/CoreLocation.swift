// SPDX-License-Identifier: Apache-2.0

// The part of Core Location that records hold, for code that imports it beside CloudKit.
@_exported public import Foundation

@_exported public import class TidemarkKit.CLLocation
@_exported public import typealias TidemarkKit.CLLocationAccuracy
@_exported public import struct TidemarkKit.CLLocationCoordinate2D
@_exported public import func TidemarkKit.CLLocationCoordinate2DIsValid
@_exported public import func TidemarkKit.CLLocationCoordinate2DMake
@_exported public import typealias TidemarkKit.CLLocationDegrees
@_exported public import typealias TidemarkKit.CLLocationDirection
@_exported public import typealias TidemarkKit.CLLocationDistance
@_exported public import typealias TidemarkKit.CLLocationSpeed
@_exported public import let TidemarkKit.kCLLocationCoordinate2DInvalid
