#pragma once
#include <QFontMetrics>
#include <QString>

namespace faceter::desktop {

/// The first letters of a setting's words: "training.learning_rate" to "lr".
QString initials(const QString& key);

/// A run's or group's name in so much room (pixels). Points of a sweep differ in their values, so their keys give way first, to the
/// first letters of their words ("IC · learning_rate=2e-5,batch_size=16" to "IC · lr=2e-5,bs=16"), then what stands in front of them.
/// The same of a comparison's "IC training.learning_rate=2e-5". How many seeds there are, " (n = 3)" at the end, or " (baseline)", gives
/// way before what stands in front of the point would be gone; in a narrow room the values stand without keys, "2e-5,16", and where
/// not even they fit, the beginnings of both, "IC 2e…".
QString elidedName(const QString& name, const QFontMetricsF& metrics, double room);

/// The whole name with its keys' first letters, for where it may take several lines.
QString withShortKeys(const QString& name);

/// A name within a sentence, a title or a line of a panel.
QString nameInWords(const QString& name, const QFontMetrics& metrics);

/// Within signs that keep what stands beside a name of Arabic or Hebrew where it is: a count or an interval behind it is read from the
/// left. Each part of "variant · point" and what is in brackets at the end by itself; other names stay as they are.
QString isolated(const QString& name);

}  // namespace faceter::desktop
