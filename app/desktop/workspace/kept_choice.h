#pragma once

namespace faceter::desktop {

class Workspace;

/// Which experiment and which groups the user chose to see, kept for each of the projects looked at last among the user's settings.
void keepChoice(const Workspace& workspace);
/// What was kept of the open project, where anything was.
void restoreChoice(Workspace& workspace);

}  // namespace faceter::desktop
