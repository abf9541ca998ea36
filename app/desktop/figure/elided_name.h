#pragma once
#include <QFontMetricsF>
#include <QString>

namespace faceter::desktop {

/// A run's or group's name in so much room (pixels). Points of a sweep differ in their values, so their keys give way first, to the
/// first letters of their words ("IC · learning_rate=2e-5,batch_size=16" to "IC · lr=2e-5,bs=16"), then what stands in front of them.
QString elidedName(const QString& name, const QFontMetricsF& metrics, double room);

}  // namespace faceter::desktop
