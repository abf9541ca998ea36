#include <QBuffer>
#include <QComboBox>
#include <QMenu>

#include "figure/table_export.h"
#include "pages/explore/explore_page.h"
#include "pages/explore/map_view.h"
#include "pages/explore/neighbour_table.h"
#include "widgets/save_file.h"

namespace faceter::desktop {

void ExplorePage::fillExports(QMenu* menu) {
    menu->clear();
    const bool map = view() == View::map;
    const Table neighbours = (map ? m_mapTable : m_table)->model()->table(), points = map ? m_map->table() : Table();
    for (const Table& table : {neighbours, points})
        if (!table.rows.empty())
            addTableExports(menu->addMenu(qs(table.caption)), this, qs(table.name),
                            [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    if (!points.rows.empty())
        menu->addAction(tr("Maps as PNG…"), this, [this] {
            askAndSave(this, QStringLiteral("map.png"), [this] {
                QBuffer picture;
                picture.open(QIODevice::WriteOnly);
                m_map->grab().save(&picture, "PNG");
                return picture.data();
            });
        });
    if (menu->isEmpty()) menu->addAction(tr("Nothing to export in this view"))->setEnabled(false);
}

}  // namespace faceter::desktop
