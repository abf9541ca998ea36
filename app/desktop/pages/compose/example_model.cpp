#include "pages/compose/example_model.h"

#include <QApplication>
#include <QPainter>

#include "project/runs_snapshot.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int most_hover_characters = 1200;

QString oneLine(QString text) { return text.replace(QLatin1Char('\n'), QLatin1Char(' ')).replace(QLatin1Char('\t'), QLatin1Char(' ')); }

}  // namespace

void ExampleModel::setExamples(const Json& examples) {
    beginResetModel();
    m_rows.clear();
    int number = 0;
    for (const Json& example : examples) {
        ++number;
        bool first = true;
        for (const Json& text : example.at("texts")) {
            Row row;
            row.example = number;
            row.first = std::exchange(first, false);
            row.role = qs(text.at("role").get<std::string>());
            row.instruction = oneLine(qs(text.at("instruction").get<std::string>()));
            const auto bytes = text.at("text").get<std::string>();
            row.text = oneLine(qs(bytes));
            if (!text.at("cut").is_null()) row.cut = static_cast<int>(qs(bytes.substr(0, text.at("cut").get<std::size_t>())).size());
            row.numTokens = text.at("num_tokens").get<int>();
            row.keptTokens = text.at("kept_tokens").get<int>();
            QStringList pieces;
            for (const Json& piece : text.at("pieces")) pieces << qs(piece.get<std::string>());
            row.pieces = pieces.join(QStringLiteral(" · "));
            const Json& label = example.at("label");
            if (row.first && !label.is_null()) row.label = label.is_string() ? qs(label.get<std::string>()) : qs(label.dump());
            m_rows.push_back(std::move(row));
        }
    }
    endResetModel();
}

QVariant ExampleModel::data(const QModelIndex& index, int wanted) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    if (wanted == instruction_role) return row.instruction;
    if (wanted == cut_role) return row.cut;
    if (wanted == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((index.column() == number || index.column() == tokens ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (wanted == Qt::ForegroundRole && index.column() == tokens && row.keptTokens < row.numTokens)
        return Theme::instance().colours().warning;
    if (wanted == Qt::ToolTipRole && index.column() == text)
        return QStringLiteral("<p>%1</p><p><b>%2</b> %3</p>")
            .arg((row.instruction + row.text).left(most_hover_characters).toHtmlEscaped(), tr("Tokens:"),
                 row.pieces.left(most_hover_characters).toHtmlEscaped());
    if (wanted != Qt::DisplayRole) return {};
    switch (index.column()) {
        case number:
            return row.first ? QString::number(row.example) : QString();
        case role:
            return row.role;
        case text:
            return row.instruction + row.text;
        case tokens:
            return row.keptTokens < row.numTokens ? tr("%1 of %2").arg(row.keptTokens).arg(row.numTokens) : QString::number(row.numTokens);
        case label:
            return row.label;
        default:
            return {};
    }
}

QVariant ExampleModel::headerData(int section, Qt::Orientation orientation, int wanted) const {
    if (orientation != Qt::Horizontal) return {};
    if (wanted == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((section == number || section == tokens ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (wanted != Qt::DisplayRole) return {};
    switch (section) {
        case number:
            return tr("no.");
        case role:
            return tr("role");
        case text:
            return tr("text as the model sees it");
        case tokens:
            return tr("tokens");
        case label:
            return tr("label");
        default:
            return {};
    }
}

void ExampleDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem background(option);
    initStyleOption(&background, index);
    const QString whole = background.text;
    background.text.clear();
    const QWidget* widget = option.widget;
    (widget ? widget->style() : QApplication::style())->drawControl(QStyle::CE_ItemViewItem, &background, painter, widget);
    const ThemeColours& colours = Theme::instance().colours();
    const auto instruction = index.data(ExampleModel::instruction_role).toString();
    const int cut = index.data(ExampleModel::cut_role).toInt();
    const auto begins = static_cast<int>(instruction.size());
    const int ends = cut < 0 ? static_cast<int>(whole.size()) : begins + cut;
    painter->save();
    const QRect area = option.rect.adjusted(6, 0, -6, 0);
    painter->setClipRect(area);
    int x = area.left();
    const auto draw = [&](const QString& part, const QColor& colour, bool struck) {
        QFont font = option.font;
        font.setStrikeOut(struck);
        painter->setFont(font);
        painter->setPen(colour);
        const QString shown = painter->fontMetrics().elidedText(part, Qt::ElideRight, std::max(0, area.right() - x));
        painter->drawText(QRect(x, area.top(), area.right() - x, area.height()), Qt::AlignVCenter | Qt::TextSingleLine, shown);
        x += painter->fontMetrics().horizontalAdvance(part.left(2000));
    };
    draw(instruction, colours.accent, false);
    if (x < area.right()) draw(whole.mid(begins, ends - begins), colours.text, false);
    if (x < area.right() && cut >= 0) draw(whole.mid(ends), colours.secondary, true);
    painter->restore();
}

}  // namespace faceter::desktop
