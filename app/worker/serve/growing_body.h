#pragma once
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional/optional.hpp>
#include <cstdint>
#include <string>

namespace faceter::worker {

/// Takes memory as bytes come, whatever the header announces (boost::beast::http::string_body takes all of that at once).
struct GrowingBody {
    using value_type = std::string;

    class reader {
      public:
        template <bool is_request, class Fields>
        reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}
        void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) { error = {}; }
        template <class Buffers>
        std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
            for (const boost::asio::const_buffer piece : boost::beast::buffers_range_ref(buffers))
                body_.append(static_cast<const char*>(piece.data()), piece.size());
            error = {};
            return boost::beast::buffer_bytes(buffers);
        }
        void finish(boost::system::error_code& error) { error = {}; }

      private:
        value_type& body_;
    };
};

}  // namespace faceter::worker
