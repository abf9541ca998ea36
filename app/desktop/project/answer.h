#pragma once
#include <QException>
#include <QFuture>
#include <QFutureWatcher>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>

namespace faceter::desktop {

/// What another thread will answer. `answer.then(this, [](const T&) {...}).onFailed([](const std::exception&) {...})`: one of the two is
/// called, in the thread of `this`, and neither when `this` is gone by then. QFuture's own continuation with a context does not hold to
/// that in Qt 6.4: the answering thread follows a pointer to a context that is being destroyed.
template <typename T>
class Answer {
  public:
    using Failed = std::function<void(const std::exception&)>;
    explicit Answer(QFuture<T> future) : m_future(std::move(future)), m_failed(std::make_shared<Failed>()) {}

    template <typename Take>
    Answer& then(QObject* context, Take take) {
        auto* watcher = new QFutureWatcher<T>(context);
        QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, take = std::move(take), failed = m_failed]() mutable {
            watcher->deleteLater();
            QFuture<T> future = watcher->future();
            try {
                waitFor(future);
                if (future.isCanceled()) return;
                if constexpr (std::is_void_v<T>)
                    take();
                else
                    take(future.result());
            } catch (const std::exception& error) {
                if (*failed) (*failed)(error);
            }
        });
        watcher->setFuture(m_future);
        return *this;
    }
    /// In the same context as then()'s.
    void onFailed(Failed failed) { *m_failed = std::move(failed); }

  private:
    /// It is finished: throws what the work threw, out of Qt's wrapping that hides its message.
    static void waitFor(QFuture<T>& future) {
        try {
            future.waitForFinished();
        } catch (const QUnhandledException& wrapped) {
            if (wrapped.exception()) std::rethrow_exception(wrapped.exception());
            throw;
        }
    }

    QFuture<T> m_future;
    std::shared_ptr<Failed> m_failed;
};

}  // namespace faceter::desktop
