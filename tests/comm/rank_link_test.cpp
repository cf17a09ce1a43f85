// Connections between ranks that do not use MPI, over this host's sockets.
#include "common/comm/liveness/rank_link.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <string>
#include <utility>

namespace lie {
namespace {

constexpr int kTimeout_milliseconds = 10'000;

class RankLinkTest : public testing::Test {
 protected:
  /// Returns a connection to the listener, and its other end.
  std::pair<Descriptor, RankLink> connect() {
    Descriptor socket;
    for (int i = 0; i < rendezvous_.address_count && !socket.is_open(); ++i) {
      socket = connect_to_host(rendezvous_, i, kTimeout_milliseconds, wake_.number());
    }
    wait_for_link(listener_.number(), false, kTimeout_milliseconds, wake_.number());
    return {std::move(socket), RankLink(accept_link(listener_), rendezvous_.token)};
  }

  /// Reads until a message has arrived or the connection has ended.
  std::optional<RankNews> receive(RankLink& link) {
    for (;;) {
      link.read();
      if (auto news = link.next()) return news;
      if (link.loss() || link.is_foreign()) return std::nullopt;
      if (!wait_for_link(link.descriptor(), false, kTimeout_milliseconds, wake_.number())) {
        return std::nullopt;
      }
    }
  }

  Rendezvous rendezvous_ = make_rendezvous();
  Descriptor listener_ = listen_to_hosts(rendezvous_);
  Descriptor wake_{::eventfd(0, EFD_CLOEXEC)};
};

TEST_F(RankLinkTest, NewsArriveWithTextsCutToTheWireFormat) {
  auto [socket, link] = connect();
  RankLink sender(std::move(socket), rendezvous_.token);
  sender.send({RankNews::Kind::kRunning, {3, "h1", "actor", std::string(500, 'x')}});
  sender.flush();
  const auto news = receive(link);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, RankNews::Kind::kRunning);
  EXPECT_EQ(news->rank.rank, 3);
  EXPECT_EQ(news->rank.host, "h1");
  EXPECT_EQ(news->rank.role, "actor");
  EXPECT_EQ(news->rank.activity, std::string(119, 'x'));
}

TEST_F(RankLinkTest, LastMessageArrivesBeforeTheLoss) {
  auto [socket, link] = connect();
  {
    RankLink sender(std::move(socket), rendezvous_.token);
    sender.send({RankNews::Kind::kEnded, {3}});
    sender.flush();
  }
  const auto news = receive(link);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, RankNews::Kind::kEnded);
  EXPECT_FALSE(receive(link));
  EXPECT_EQ(link.loss(), Loss::kDied);
}

TEST_F(RankLinkTest, ForeignBytesAreIgnored) {
  auto [socket, link] = connect();
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  ::send(socket.number(), request.data(), request.size(), 0);
  EXPECT_FALSE(receive(link));
  EXPECT_TRUE(link.is_foreign());
}

TEST_F(RankLinkTest, RankOfAnotherJobIsIgnored) {
  auto [socket, link] = connect();
  RankLink other(std::move(socket), make_rendezvous().token);
  other.send({RankNews::Kind::kRunning, {1}});
  other.flush();
  EXPECT_FALSE(receive(link));
  EXPECT_TRUE(link.is_foreign());
}

TEST_F(RankLinkTest, OneRankPerHostListensForItsNeighbors) {
  EXPECT_FALSE(connect_to_neighbor(rendezvous_, "h1").is_open());
  const Descriptor first = listen_to_neighbors(rendezvous_, "h1");
  EXPECT_TRUE(first.is_open());
  EXPECT_FALSE(listen_to_neighbors(rendezvous_, "h1").is_open());
  EXPECT_TRUE(listen_to_neighbors(rendezvous_, "h2").is_open());
  EXPECT_TRUE(connect_to_neighbor(rendezvous_, "h1").is_open());
}

}  // namespace
}  // namespace lie
